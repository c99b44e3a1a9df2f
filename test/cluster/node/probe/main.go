// Command probe is what the tests of real nodes run in pods: it accepts connections, makes one, or
// holds a sandbox.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// dialTimeout is short: the kubelet starts a probe that failed again.
const dialTimeout = 10 * time.Second

func main() {
	if len(os.Args) < 3 {
		ended, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		<-ended.Done()
		return
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func run(what, address string) error {
	if what == "listen" {
		listener, err := net.Listen("tcp", address)
		for err == nil {
			var connection net.Conn
			if connection, err = listener.Accept(); err == nil {
				err = connection.Close()
			}
		}
		return err
	}
	connection, err := net.DialTimeout("tcp", address, dialTimeout)
	if err != nil {
		return err
	}
	return connection.Close()
}
