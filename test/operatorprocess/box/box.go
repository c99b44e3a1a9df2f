// Package box runs a program as a container runtime does, without one: in a root file system of
// its own with nothing but the machine's programs and libraries, read-only, and what a pod mounts
// at its real paths; as the container's user; with the arguments as they are. The network is the
// machine's, where Ceph and the API server listen on loopback: several containers want the same
// port there, so the kernel asks at each bind, and another port is bound; see Ports. Containers of
// one pod find each other there nevertheless: the kernel asks at their connects, too.
//
// It takes root, or user namespaces for everybody; see Available.
package box

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Mount is a folder of the container.
type Mount struct {
	// Target is its path in the container.
	Target string
	// Source is a folder of the machine; empty means an empty one in memory, which is writable.
	Source   string
	Writable bool
}

// Plan says what to run.
type Plan struct {
	// Program is a file of the machine. Arguments begin with the name that it is called by.
	Program   string
	Arguments []string
	// Environment is everything that the program sees ("NAME=value").
	Environment []string
	UID, GID    int
	// Root is an empty folder of the machine. Without one the program runs in the machine's root
	// file system, as the caller, and has no Mounts.
	Root   string
	Mounts []Mount
	// Writable: the root file system is not read-only.
	Writable bool
	// Hostname is the machine's where it is empty, or where there is no Root.
	Hostname string
	// Neighbours: others run with the same Ports, and are found there.
	Neighbours bool
}

// capabilities are what it takes to mount; the program has none of them.
var capabilities = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_DAC_OVERRIDE}

// Start has the program started by start, which is given a command without output, and returns
// when it runs.
func Start(plan Plan, ports *Ports, start func(*exec.Cmd) error) error {
	ours, theirs, err := pair()
	if err != nil {
		return fmt.Errorf("a socket for %s: %w", plan.Program, err)
	}
	defer ours.Close()
	cmd := &exec.Cmd{
		Path: "/proc/self/exe", Args: append([]string{marker}, plan.Arguments...), Env: plan.Environment,
		ExtraFiles: []*os.File{theirs}, SysProcAttr: plan.attributes(),
	}
	err = start(cmd)
	_ = theirs.Close()
	if err != nil {
		return err
	}
	if err := json.NewEncoder(ours).Encode(plan); err != nil {
		return fmt.Errorf("telling %s what to do: %w", plan.Program, err)
	}
	binds, err := receive(ours)
	if err != nil {
		return fmt.Errorf("a container for %s: %w", plan.Program, err)
	}
	go ports.answer(binds)
	return nil
}

func (p Plan) attributes() *syscall.SysProcAttr {
	if p.Root == "" {
		return &syscall.SysProcAttr{}
	}
	out := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWUTS, AmbientCaps: capabilities}
	if os.Geteuid() == 0 {
		out.Credential = &syscall.Credential{Uid: uint32(p.UID), Gid: uint32(p.GID)}
		return out
	}
	out.Cloneflags |= unix.CLONE_NEWUSER
	out.UidMappings = []syscall.SysProcIDMap{{ContainerID: p.UID, HostID: os.Geteuid(), Size: 1}}
	out.GidMappings = []syscall.SysProcIDMap{{ContainerID: p.GID, HostID: os.Getegid(), Size: 1}}
	return out
}

// Available says whether containers can have a root file system of their own here, and if not,
// why.
var Available = sync.OnceValue(func() error {
	root, err := os.MkdirTemp("", "box-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	program, err := exec.LookPath("true")
	if err != nil {
		return err
	}
	if program, err = filepath.EvalSymlinks(program); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	err = Start(Plan{Program: program, Arguments: []string{"true"}, UID: 1001, Root: root}, &Ports{}, func(cmd *exec.Cmd) error {
		if err := cmd.Start(); err != nil {
			return err
		}
		go func() { ended <- cmd.Wait() }()
		return nil
	})
	if err != nil {
		return err
	}
	select {
	case err = <-ended:
	case <-ctx.Done():
		err = ctx.Err()
	}
	return err
})

// pair is a socket for this program and one for the other.
func pair() (*net.UnixConn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	mine, theirs := os.NewFile(uintptr(fds[0]), "box"), os.NewFile(uintptr(fds[1]), "box")
	defer mine.Close()
	conn, err := net.FileConn(mine)
	if err != nil {
		_ = theirs.Close()
		return nil, nil, err
	}
	return conn.(*net.UnixConn), theirs, nil
}

// receive returns the descriptor by which the kernel asks about the program's binds. Who cannot
// send it sends a text instead.
func receive(conn *net.UnixConn) (int, error) {
	text, control := make([]byte, 4096), make([]byte, unix.CmsgSpace(4))
	n, controls, _, _, err := conn.ReadMsgUnix(text, control)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	messages, err := unix.ParseSocketControlMessage(control[:controls])
	if err != nil {
		return 0, err
	}
	if len(messages) == 0 {
		return 0, fmt.Errorf("%s", orElse(string(text[:n]), "it ended before it ran"))
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return 0, err
	}
	unix.CloseOnExec(fds[0])
	return fds[0], nil
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
