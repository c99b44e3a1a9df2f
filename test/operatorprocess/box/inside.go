package box

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// marker is the name that this program calls itself by to become the container.
const marker = "operatorprocess-box"

// socket is the number of the descriptor that Start gives along.
const socket = 3

// init takes the place of the whole program in which a container is to be made. It is called
// before most of that program has done anything.
func init() {
	if len(os.Args) == 0 || os.Args[0] != marker {
		return
	}
	runtime.LockOSThread()
	conn, err := net.FileConn(os.NewFile(socket, "box"))
	if err != nil {
		os.Exit(1)
	}
	err = become(conn.(*net.UnixConn))
	_, _ = conn.Write([]byte(err.Error()))
	os.Exit(1)
}

// become returns when it has failed.
func become(conn *net.UnixConn) error {
	var plan Plan
	if err := json.NewDecoder(conn).Decode(&plan); err != nil {
		return fmt.Errorf("reading the plan: %w", err)
	}
	program := plan.Program
	if plan.Root != "" {
		if err := plan.makeRoot(); err != nil {
			return err
		}
		program = inRoot(plan.Program)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up new privileges: %w", err)
	}
	// What gives up rights forgets that it is to end with its parent.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("ending with the parent: %w", err)
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up capabilities: %w", err)
	}
	calls := []uint32{unix.SYS_BIND}
	if plan.Neighbours {
		calls = append(calls, unix.SYS_CONNECT)
	}
	binds, err := watch(calls)
	if err != nil {
		return fmt.Errorf("having the kernel ask about ports (seccomp of Linux 5.5): %w", err)
	}
	if _, _, err := conn.WriteMsgUnix([]byte{0}, unix.UnixRights(binds), nil); err != nil {
		return fmt.Errorf("sending the descriptor of ports: %w", err)
	}
	unix.CloseOnExec(socket)
	err = unix.Exec(program, plan.Arguments, os.Environ())
	fmt.Fprintf(os.Stderr, "starting %s: %v\n", program, err)
	return err
}

// inRoot is where a container's program lies: not in a folder that the image shares with the
// machine.
func inRoot(program string) string { return "/" + filepath.Base(program) }

// watch returns a descriptor by which the kernel asks before each of these system calls from now on.
func watch(calls []uint32) (int, error) {
	const number = 0 // of the system call, in the data that a filter sees
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: number}}
	for _, call := range calls {
		filter = append(filter,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: call},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF})
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return 0, errno
	}
	return int(fd), nil
}
