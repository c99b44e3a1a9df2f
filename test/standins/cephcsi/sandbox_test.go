package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The test's own program plays the driver, and runs in mounts of its own: the driver's files have
// paths that no flag changes.
const (
	roleVariable = "CEPHCSI_TEST_ROLE"
	driverRole   = "driver"
	sandboxRole  = "sandbox"
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case driverRole:
		main()
	case sandboxRole:
		if err := furnish(); err != nil {
			fmt.Fprintln(os.Stderr, "preparing the mounts of the test:", err)
			os.Exit(1)
		}
		os.Exit(m.Run())
	default:
		if flag.Parse(); testing.Short() {
			os.Exit(m.Run())
		}
		os.Exit(inSandbox(m))
	}
}

// inSandbox runs the tests again, as root: by sudo where need be.
func inSandbox(m *testing.M) int {
	command := append([]string{"/proc/self/exe"}, os.Args[1:]...)
	if os.Getuid() != 0 {
		if exec.Command("sudo", "-n", "true").Run() != nil {
			fmt.Println("Not run on a real Ceph: the stand-in of ceph-csi mounts volumes, which needs root or sudo.")
			return m.Run()
		}
		self, err := os.Executable()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		command = append([]string{"sudo", "-n", "-E", roleVariable + "=", self}, os.Args[1:]...)
	}
	_, existed := os.Stat("/tmp/csi")
	// The sandbox ends with this thread: it must not go before it.
	runtime.LockOSThread()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if os.Getuid() == 0 {
		cmd.Env = append(os.Environ(), roleVariable+"="+sandboxRole)
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	}
	err := cmd.Run()
	if os.Getuid() == 0 && errors.Is(existed, fs.ErrNotExist) {
		_ = os.Remove("/tmp/csi")
	}
	exit := new(exec.ExitError)
	if err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return cmd.ProcessState.ExitCode()
}

// furnish gives the sandbox an /etc that nobody else sees, and the folders that a pod has.
func furnish() error {
	upper, err := os.MkdirTemp("", "etc")
	if err != nil {
		return err
	}
	defer os.Remove(upper)
	steps := []func() error{
		func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") },
		func() error { return unix.Mount("tmpfs", upper, "tmpfs", 0, "") },
		func() error { return errors.Join(os.Mkdir(upper+"/upper", 0o755), os.Mkdir(upper+"/work", 0o755)) },
		func() error {
			return unix.Mount("overlay", "/etc", "overlay", 0, "lowerdir=/etc,upperdir="+upper+"/upper,workdir="+upper+"/work")
		},
		func() error { return unix.Unmount(upper, unix.MNT_DETACH) },
		func() error { return os.MkdirAll("/tmp/csi", 0o755) },
		func() error { return unix.Mount("tmpfs", "/tmp/csi", "tmpfs", 0, "") },
		func() error { return os.Mkdir("/tmp/csi/keys", 0o700) },
		func() error { return os.MkdirAll("/etc/ceph-csi-config", 0o755) },
		// Another driver's files must not be taken for those that the stand-in writes.
		func() error { return os.RemoveAll("/etc/ceph") },
	}
	for n, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("step %d: %w", n, err)
		}
	}
	return nil
}
