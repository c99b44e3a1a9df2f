package node

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/node/wire"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/statedir"
)

// ownerRole makes the test binary the owner of nodes instead of running tests.
const ownerRole = "NODE_TEST_OWNER_FOLDER"

func TestMain(m *testing.M) {
	folder := os.Getenv(ownerRole)
	if folder == "" {
		os.Exit(m.Run())
	}
	if err := own(folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// started is what an owner says of its nodes.
type started struct {
	Host    int
	Address string
	Loop    string
}

// own starts two nodes whose services do nothing, one with a loop device on a file that only it sees.
func own(folder string) error {
	ctx := context.Background()
	dir, err := statedir.Create(folder)
	if err != nil {
		return err
	}
	idle := filepath.Join(folder, "programs", "idle")
	err = errors.Join(
		os.Mkdir(filepath.Join(folder, "logs"), 0o755), os.Mkdir(filepath.Dir(idle), 0o755),
		os.WriteFile(idle, []byte("#!/bin/sh\nexec sleep infinity\n"), 0o755),
	)
	if err != nil {
		return err
	}
	nodes, err := Connect(ctx, Options{Dir: folder, Count: 2, Cleanup: dir.AddCleanup, Software: wire.Software{Kubelet: idle, KubeProxy: idle, DNS: idle}})
	if err != nil {
		return err
	}
	if err := nodes.Boot(ctx, "node-0", "node-1"); err != nil {
		return err
	}
	loop, err := nodes.Run(ctx, "node-1", "sh", "-c", "truncate --size 1M /run/disk && losetup --find --show /run/disk")
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(started{nodes.host.Process.Pid, nodes.Address(), strings.TrimSpace(loop)}); err != nil {
		return err
	}
	select {}
}

func TestNothingIsLeft(t *testing.T) {
	if testing.Short() {
		t.Skip("starts nodes")
	}
	if err := Missing(); err != nil {
		t.Skip("not run: ", err)
	}
	tests := map[string]struct {
		reason string
		end    func(t *testing.T, owner *os.Process, folder string, s started)
	}{
		"OwnerKilled": {
			reason: "a killed test ends its nodes, with nobody's help",
			end:    func(_ *testing.T, owner *os.Process, _ string, _ started) { _ = owner.Kill() },
		},
		"Down": {
			reason: "make cluster-down ends the owner, and waits for the nodes",
			end:    func(t *testing.T, _ *os.Process, folder string, _ started) { mustStop(t, folder) },
		},
		"AllKilled": {
			reason: "make cluster-down finds what nobody took away",
			end: func(t *testing.T, owner *os.Process, folder string, s started) {
				_, err := process.Output(t.Context(), "/usr/bin/env", asRoot("kill", "-9", fmt.Sprint(s.Host))...)
				if err != nil {
					t.Fatal(err)
				}
				_ = owner.Kill()
				mustStop(t, folder)
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "cluster")
			owner, s := startOwner(t, folder)
			if got := traces(t, folder, s); len(got) < 4 {
				t.Fatalf("the search for traces finds only %q of running nodes", got)
			}
			tc.end(t, owner.Process, folder, s)
			_ = owner.Wait()
			deadline := time.Now().Add(time.Minute)
			for got := traces(t, folder, s); len(got) > 0; got = traces(t, folder, s) {
				if time.Now().After(deadline) {
					t.Fatalf("%s: left are %q", tc.reason, got)
				}
				<-time.After(20 * time.Millisecond)
			}
		})
	}
}

func mustStop(t *testing.T, folder string) {
	t.Helper()
	if err := statedir.Stop(t.Context(), folder); err != nil {
		t.Fatal(err)
	}
}

func startOwner(t *testing.T, folder string) (*exec.Cmd, started) {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	owner := exec.Command(executable)
	owner.Env = append(os.Environ(), ownerRole+"="+folder)
	owner.Stderr = t.Output()
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = owner.Process.Kill()
		_ = statedir.Stop(context.Background(), folder)
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var s started
	if err := json.Unmarshal(line, &s); err != nil {
		t.Fatal(err)
	}
	return owner, s
}

// traces are what of the nodes can be seen on this machine.
func traces(t *testing.T, folder string, s started) []string {
	t.Helper()
	var found []string
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if strings.HasPrefix(a.String(), s.Address+"/") {
			found = append(found, "address "+a.String())
		}
	}
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.Contains(d.Name(), fmt.Sprintf("cephcsi-%d-", s.Host)) {
			found = append(found, "cgroup "+path)
		}
		return nil
	})
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(mounts), folder) {
		found = append(found, "mounts")
	}
	if _, err := os.Stat(filepath.Join("/sys/block", filepath.Base(s.Loop), "loop", "backing_file")); err == nil {
		found = append(found, "loop device "+s.Loop)
	}
	if _, err := os.Stat(filepath.Join(folder, "nodes")); err == nil {
		found = append(found, "files")
	}
	return append(found, processesOf(t, folder)...)
}

func processesOf(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		arguments, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(arguments), filepath.Join(folder, "nodes")) {
			found = append(found, "process "+strings.ReplaceAll(string(arguments), "\x00", " "))
		}
	}
	return found
}
