package box

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
)

// run runs a shell's script in a container.
func run(t *testing.T, script string, ports *Ports, mounts ...Mount) string {
	t.Helper()
	shell, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	return runPlan(t, Plan{
		Program: shell, Arguments: []string{"/usr/bin/program", "-c", script}, Environment: []string{"PATH=/usr/bin:/bin", "GIVEN=yes"},
		UID: 1001, GID: 0, Root: t.TempDir(), Mounts: mounts,
	}, ports)
}

func runPlan(t *testing.T, plan Plan, ports *Ports) string {
	t.Helper()
	var out bytes.Buffer
	var started *exec.Cmd
	err := Start(plan, ports, func(cmd *exec.Cmd) error {
		cmd.Stdout, cmd.Stderr, started = &out, &out, cmd
		return cmd.Start()
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := started.Wait(); err != nil {
		t.Errorf("%q: %v", plan.Arguments, err)
	}
	return out.String()
}

func needBoxes(t *testing.T) {
	t.Helper()
	if err := Available(); err != nil {
		t.Skipf("no containers here: %v", err)
	}
}

func TestContainer(t *testing.T) {
	needBoxes(t)
	mounted := t.TempDir()
	if err := os.Chmod(mounted, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(mounted, "token"), []byte("secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const target = "/var/run/secrets/kubernetes.io/serviceaccount"
	tests := map[string]struct{ reason, script, want string }{
		"User":        {"the container's, without any capability", `/usr/bin/id -u; /usr/bin/id -g; /bin/grep CapEff /proc/self/status`, "1001\n0\nCapEff:\t0000000000000000\n"},
		"Arguments":   {"they are as they are", `/usr/bin/tr '\0' ' ' < /proc/$$/cmdline | /usr/bin/cut -c-19`, "/usr/bin/program -c\n"},
		"Environment": {"and nothing of the caller's", `/usr/bin/env | /bin/grep -v ^PWD= | /usr/bin/sort`, "GIVEN=yes\nPATH=/usr/bin:/bin\n"},
		"Mounted":     {"files are at their real paths", `/bin/cat ` + target + `/token`, "secret\n"},
		"Temporary":   {"an empty folder in memory may be written to", `echo kept > /tmp/file; /bin/cat /tmp/file; /bin/ls /tmp`, "kept\nfile\n"},
		"Below":       {"a folder within one of the image", `/bin/ls -d /etc/passwd /etc/ceph-csi-config/token`, "/etc/ceph-csi-config/token\n/etc/passwd\n"},
		"File":        {"a single file, which is there for who would make it", `/bin/cat /etc/fscrypt.conf; set -C; (echo > /etc/fscrypt.conf) 2>/dev/null || echo exists`, "secret\nexists\n"},
		"ReadOnly":    {"nothing else may", `for f in /file /usr/file /etc/file ` + target + `/file; do (echo > $f) 2>/dev/null && echo $f; done; true`, ""},
		"Machine":     {"nor be seen", `for f in /home /root /work ` + mounted + `; do [ ! -e $f ] || echo $f; done`, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t, tc.script, &Ports{}, Mount{Source: mounted, Target: target}, Mount{Target: "/tmp"}, Mount{Source: mounted, Target: "/etc/ceph-csi-config"},
				Mount{Source: filepath.Join(mounted, "token"), Target: "/etc/fscrypt.conf"})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestWritable is a container without readOnlyRootFilesystem, in a pod of its own name.
func TestWritable(t *testing.T) {
	needBoxes(t)
	shell, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	const script = `cat /proc/sys/kernel/hostname; ls -A /etc/ceph /tmp /lib/modules; for f in /file /etc/ceph/file /tmp/file /usr/bin/written; do (echo > $f) 2>/dev/null && echo $f; done; true`
	got := runPlan(t, Plan{
		Program: shell, Arguments: []string{"sh", "-c", script}, Environment: []string{"PATH=/usr/bin:/bin"},
		Root: t.TempDir(), Writable: true, Hostname: "pod-0", Mounts: []Mount{{Source: t.TempDir(), Target: "/lib/modules"}},
	}, &Ports{})
	want := "pod-0\n/etc/ceph:\n\n/lib/modules:\n\n/tmp:\n/file\n/etc/ceph/file\n/tmp/file\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestNeighbours has a container connect to the port that another has bound.
func TestNeighbours(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ports := &Ports{}
	given, err := ports.Of(8443)
	if err != nil {
		t.Fatal(err)
	}
	neighbour, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", given))
	if err != nil {
		t.Fatal(err)
	}
	defer neighbour.Close()
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tests := map[string]struct{ reason, address, want string }{
		"Neighbour": {"the port is that of the pod", "127.0.0.1:8443", neighbour.Addr().String()},
		"IPv6":      {"localhost may be this one", "[::1]:8443", neighbour.Addr().String()},
		"Machine":   {"Ceph and the API server are the machine's", other.Addr().String(), other.Addr().String()},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			plan := Plan{Program: program, Arguments: []string{"connects"}, Environment: []string{connecting + "=" + tc.address}, Neighbours: true}
			if got := runPlan(t, plan, ports); got != tc.want+"\n" {
				t.Errorf("%s: reached %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

// listening makes this program's copy listen, as a program of a container does.
const listening = "BOX_TEST_LISTEN"

// connecting makes it connect, and say where it came out.
const connecting = "BOX_TEST_CONNECT"

// owning makes it the owner of a container that waits, and says its number.
const owning = "BOX_TEST_OWN"

func TestMain(m *testing.M) {
	if folder := os.Getenv(owning); folder != "" {
		own(folder)
		return
	}
	if address := os.Getenv(connecting); address != "" {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			panic(err)
		}
		fmt.Println(conn.RemoteAddr())
		return
	}
	address := os.Getenv(listening)
	if address == "" {
		os.Exit(m.Run())
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr().(*net.TCPAddr).IP.IsLoopback(), l.Addr().(*net.TCPAddr).Port)
}

func TestPorts(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ reason, listen string }{
		"Everywhere": {"all addresses are loopback here", "0.0.0.0:8443"},
		"IPv6":       {"all addresses are loopback here", "[::]:8443"},
		"Loopback":   {"an address stays", "127.0.0.1:8443"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ports := &Ports{}
			want, err := ports.Of(8443)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				var out bytes.Buffer
				var started *exec.Cmd
				err = Start(Plan{Program: program, Arguments: []string{"listens"}, Environment: []string{listening + "=" + tc.listen}}, ports, func(cmd *exec.Cmd) error {
					cmd.Stdout, cmd.Stderr, started = &out, &out, cmd
					return cmd.Start()
				})
				if err != nil {
					t.Fatal(err)
				}
				if err := started.Wait(); err != nil {
					t.Error(err)
				}
				if got := out.String(); got != fmt.Sprintf("true %d\n", want) {
					t.Errorf("%s: %s, want port %d, at the next start too", tc.reason, got, want)
				}
			}
		})
	}
}

func TestInstead(t *testing.T) {
	unix := append([]byte{1, 0}, "/run/a.sock"...)
	tests := map[string]struct {
		reason  string
		address []byte
	}{
		"Socket":   {"a path is none of this machine's ports", unix},
		"Any":      {"whoever takes any port disturbs nobody", []byte{2, 0, 0, 0, 127, 0, 0, 1}},
		"TooShort": {"the kernel says what is wrong with it", []byte{2, 0, 1}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := (&Ports{}).instead(tc.address); got != nil || err != nil {
				t.Errorf("%s: %v, %v", tc.reason, got, err)
			}
		})
	}
}

func TestPlanThatFails(t *testing.T) {
	needBoxes(t)
	err := Start(Plan{Program: "/nowhere/program", Root: t.TempDir()}, &Ports{}, (*exec.Cmd).Start)
	if err == nil || !strings.Contains(err.Error(), "/nowhere/program") {
		t.Errorf("the error must say what is missing: %v", err)
	}
}

func own(folder string) {
	program, err := filepath.EvalSymlinks("/bin/sleep")
	if err != nil {
		panic(err)
	}
	root := filepath.Join(folder, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		panic(err)
	}
	var p *process.Process
	plan := Plan{Program: program, Arguments: []string{"sleep", "600"}, UID: 1001, Root: root}
	err = Start(plan, &Ports{}, func(cmd *exec.Cmd) error {
		var err error
		p, err = process.NewGroup(folder, func(process.Record) error { return nil }).StartCommand("sleep", cmd)
		return err
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(p.PID)
	<-p.Done()
}

func TestDiesWithItsOwner(t *testing.T) {
	needBoxes(t)
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	owner := exec.Command(executable)
	owner.Env = append(os.Environ(), owning+"="+t.TempDir())
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_ = owner.Process.Kill()
	_ = owner.Wait()
	place := "/proc/" + strings.TrimSpace(line)
	for deadline := time.Now().Add(30 * time.Second); ; <-time.After(10 * time.Millisecond) {
		status, err := os.ReadFile(place + "/stat")
		if err != nil || strings.Contains(string(status), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the container lives on: %s", status)
		}
	}
}
