// Command demo shows the operator at work on this machine: it starts the embedded cluster
// with a real Ceph, hands Ceph's credentials to the operators of both drivers, and tells what
// happens until it is stopped.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/programs"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/statedir"
	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess"
)

func main() {
	var o options
	flag.StringVar(&o.dir, "dir", "", "folder for the cluster's state (default: the one of make cluster-up)")
	flag.BoolVar(&o.exitWhenReady, "exit-when-ready", false, "stop everything and end once both drivers are available")
	flag.BoolVar(&o.realNodes, "real-nodes", false, "run the pods on two real nodes, and have one write to a volume of each driver")
	flag.DurationVar(&o.timeout, "timeout", 5*time.Minute, "how long the drivers may take to become available")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := o.complete(); err != nil {
		exit(err)
	}
	if err := run(ctx, o, newPrinter(os.Stdout, time.Now)); err != nil && ctx.Err() == nil {
		exit(err)
	}
}

func exit(err error) {
	if running := (statedir.RunningError{}); errors.As(err, &running) {
		err = fmt.Errorf("%w: stop it with 'make cluster-down'", err)
	}
	fmt.Fprintln(os.Stderr, "error:", err)
	os.Exit(1)
}

// options are what the demo is started with.
type options struct {
	// dir is the folder of the cluster's state.
	dir string
	// binary is the operator's.
	binary string
	// realNodes: pods run on nodes with kubelet and containerd, not as processes.
	realNodes bool
	// exitWhenReady ends the demo with success once both drivers are available.
	exitWhenReady bool
	// timeout bounds the time from the operators' start until both drivers are available.
	timeout time.Duration
}

// complete fills what is not given.
func (o *options) complete() error {
	if o.dir == "" {
		cache, err := programs.CacheRoot(os.Stderr)
		if err != nil {
			return err
		}
		o.dir = filepath.Join(cache, "cluster")
	}
	var err error
	o.binary, err = operatorprocess.Binary()
	return err
}
