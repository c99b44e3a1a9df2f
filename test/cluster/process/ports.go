package process

import (
	"fmt"
	"net"
	"os"
	"sync"
)

// Ports below the kernel's range for outgoing connections (from 32768), so that nobody takes
// one between its choice and its use. Each program claims the block that its process number
// chooses, and the next one when that is used up: clusters side by side do not meet.
const (
	firstPort   = 20000
	blockLength = 64
	blocks      = 190
)

// portCursor counts what this program has handed out.
type portCursor struct {
	mu sync.Mutex
	// tried is how many blocks were asked for.
	tried int
	// next is the first of those ports, left in number, that the claimed block still has.
	next, left int
}

var ports portCursor

// FreePorts returns n different TCP ports that nobody listens on at 127.0.0.1, and that no other
// program gets from it while this one runs.
func FreePorts(n int) ([]int, error) {
	return ports.take(n, os.Getpid(), claim, free)
}

func (c *portCursor) take(n, pid int, claim, free func(int) bool) ([]int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []int
	for len(found) < n {
		if c.left == 0 && !c.claimBlock(pid, claim) {
			return nil, fmt.Errorf("only %d of %d ports are free in %d–%d", len(found), n, firstPort, firstPort+blocks*blockLength-1)
		}
		if free(c.next) {
			found = append(found, c.next)
		}
		c.next++
		c.left--
	}
	return found, nil
}

func (c *portCursor) claimBlock(pid int, claim func(block int) bool) bool {
	for c.tried < blocks {
		block := (pid + c.tried) % blocks
		c.tried++
		if claim(block) {
			c.next, c.left = firstPort+block*blockLength, blockLength
			return true
		}
	}
	return false
}

// claim has the kernel keep a name that only one program can have: it ends with the program.
func claim(block int) bool {
	listener, err := net.Listen("unix", fmt.Sprintf("@ceph-csi-cluster-ports-%d", block))
	if err != nil {
		return false
	}
	claims = append(claims, listener)
	return true
}

// claims are kept from the garbage collector, which would close them.
var claims []net.Listener

func free(port int) bool {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}
