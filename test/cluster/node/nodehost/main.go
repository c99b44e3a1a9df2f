// Command nodehost runs the real nodes of an embedded cluster, as root: each is a set of
// namespaces with a containerd, a kubelet, a kube-proxy and a DNS server of its own. They end with this
// program, which ends with its standard input.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// The kernel ends a node with the thread that started it: the first thread lives as long as the program.
func init() { runtime.LockOSThread() }

func main() {
	if err := dispatch(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func dispatch(args []string) error {
	if len(args) != 2 && (len(args) != 3 || args[0] != "up") {
		return fmt.Errorf("arguments %q: want up FOLDER NODES or down FOLDER", args)
	}
	// The one who started this asks for its end by closing standard input.
	signal.Ignore(syscall.SIGINT, syscall.SIGHUP)
	switch args[0] {
	case "up":
		return up(args[1], args[2])
	case "down":
		return down(context.Background(), args[1])
	case "detach":
		return detachOrphan(args[1])
	case "enter":
		return enter(args[1])
	case "init":
		return initNode(args[1])
	case "run":
		return run(args[1])
	}
	return fmt.Errorf("no subcommand %s", args[0])
}
