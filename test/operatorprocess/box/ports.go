package box

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
)

// Ports are what programs bind, and what is bound for them: a free port, on loopback where they
// ask for all addresses. It is the one difference between a program here and the same in a pod,
// and the program does not see it. The zero value is ready for use, by several starts too.
type Ports struct {
	mu    sync.Mutex
	bound map[int]int
}

// Of is the port of this machine where a program that binds the other one is reached.
func (p *Ports) Of(port int) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, given := range p.bound {
		// The kernel asks again when a signal has interrupted the program.
		if given == port {
			return port, nil
		}
	}
	if given, ok := p.bound[port]; ok {
		return given, nil
	}
	free, err := process.FreePorts(1)
	if err != nil {
		return 0, err
	}
	if p.bound == nil {
		p.bound = map[int]int{}
	}
	p.bound[port] = free[0]
	return free[0], nil
}

// notification and response are the kernel's struct seccomp_notif and seccomp_notif_resp.
type notification struct {
	id         uint64
	pid, flags uint32
	number     int32
	arch       uint32
	ip         uint64
	arguments  [6]uint64
}

type response struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

const (
	goOn = 1 // SECCOMP_USER_NOTIF_FLAG_CONTINUE
	// addressLength is that of a struct sockaddr_in6.
	addressLength = 28
)

// answer tells the kernel how each bind goes on, until no program is left that could ask.
func (p *Ports) answer(binds int) {
	defer unix.Close(binds)
	for {
		asking := []unix.PollFd{{Fd: int32(binds), Events: unix.POLLIN}}
		if _, err := unix.Poll(asking, -1); errors.Is(err, unix.EINTR) {
			continue
		} else if err != nil || asking[0].Revents&unix.POLLIN == 0 {
			return
		}
		var n notification
		if err := control(binds, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); err != nil {
			continue // The program has ended, or was interrupted.
		}
		out := response{id: n.id, flags: goOn}
		if err := p.redirect(n); err != nil {
			fmt.Fprintf(os.Stderr, "a port for process %d: %v\n", n.pid, err)
			out = response{id: n.id, errno: -int32(unix.EACCES)}
		}
		_ = control(binds, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&out))
	}
}

func control(fd int, request uintptr, argument unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(argument)); errno != 0 {
		return errno
	}
	return nil
}

// redirect changes the address that a program is about to bind, or to connect to, where the program
// has it.
func (p *Ports) redirect(n notification) error {
	memory, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", n.pid), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer memory.Close()
	address := make([]byte, min(addressLength, n.arguments[2]))
	at := int64(n.arguments[1])
	if _, err := memory.ReadAt(address, at); err != nil {
		return err
	}
	var changed []byte
	if n.number == unix.SYS_CONNECT {
		changed = p.neighbour(address)
	} else if changed, err = p.instead(address); err != nil {
		return err
	}
	if changed == nil {
		return nil
	}
	_, err = memory.WriteAt(changed, at)
	return err
}

// instead is the address that is bound instead of another; nil means that very one.
func (p *Ports) instead(address []byte) ([]byte, error) {
	host, port := parse(address)
	if port == 0 {
		return nil, nil
	}
	given, err := p.Of(port)
	if err != nil {
		return nil, err
	}
	binary.BigEndian.PutUint16(address[2:], uint16(given))
	if everywhere(host) {
		toLoopback(host)
	}
	return address, nil
}

// neighbour is the address where a neighbour has bound the one that a program connects to; nil means
// that none has, so it is something of the machine's.
func (p *Ports) neighbour(address []byte) []byte {
	host, port := parse(address)
	p.mu.Lock()
	given, bound := p.bound[port]
	p.mu.Unlock()
	if !bound || !net.IP(host).IsLoopback() {
		return nil
	}
	binary.BigEndian.PutUint16(address[2:], uint16(given))
	toLoopback(host)
	return address
}

// parse returns the part of a socket's address that is the host's, and the port; none where it has none.
func parse(address []byte) (host []byte, port int) {
	if len(address) < 2 {
		return nil, 0
	}
	switch family := binary.NativeEndian.Uint16(address); {
	case family == unix.AF_INET && len(address) >= 8:
		host = address[4:8]
	case family == unix.AF_INET6 && len(address) >= 24:
		host = address[8:24]
	default:
		return nil, 0
	}
	return host, int(binary.BigEndian.Uint16(address[2:]))
}

// toLoopback writes loopback's IPv4 address, into an address of IPv6 too.
func toLoopback(host []byte) {
	loopback := []byte{127, 0, 0, 1}
	clear(host)
	copy(host[len(host)-len(loopback):], loopback)
	if len(host) > len(loopback) {
		host[10], host[11] = 0xff, 0xff
	}
}

func everywhere(host []byte) bool {
	for _, b := range host {
		if b != 0 {
			return false
		}
	}
	return true
}
