package process

import (
	"fmt"
	"net"
	"os"
	"sync"
)

// Ports below the kernel's range for outgoing connections (from 32768), so that nobody takes
// one between its choice and its use. Each program walks through a block that its process
// number chooses: clusters that start side by side do not meet.
const (
	firstPort   = 20000
	blockLength = 64
	blocks      = 190
)

// portCursor counts what this program has handed out.
type portCursor struct {
	mu   sync.Mutex
	next int
}

var ports portCursor

// FreePorts returns n different TCP ports that nobody listens on at 127.0.0.1.
func FreePorts(n int) ([]int, error) {
	return ports.take(n, os.Getpid(), free)
}

func (c *portCursor) take(n, pid int, free func(port int) bool) ([]int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	start := pid % blocks * blockLength
	var found []int
	for range blocks * blockLength {
		if len(found) == n {
			return found, nil
		}
		port := firstPort + (start+c.next)%(blocks*blockLength)
		c.next++
		if free(port) {
			found = append(found, port)
		}
	}
	return nil, fmt.Errorf("only %d of %d ports are free in %d–%d", len(found), n, firstPort, firstPort+blocks*blockLength-1)
}

func free(port int) bool {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}
