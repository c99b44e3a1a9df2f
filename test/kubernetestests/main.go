// Command kubernetestests runs Kubernetes' end-to-end tests of storage drivers ("External Storage") on real nodes,
// with the manifests of test/e2e/rbd and test/e2e/cephfs and by the commands of test/README.md. Those that are known to pass
// must; -all tries every one that is found and writes the lists of those anew.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// options are what the program is started with.
type options struct {
	// kind is that of the only driver to test; empty means all.
	kind string
	// all tries every test but the impossible ones, and writes the lists anew.
	all bool
	// parallel is how many tests run at the same time.
	parallel int
	// keep leaves the cluster's folder with all logs.
	keep bool
}

func (o options) wants(d driver.Driver) bool { return o.kind == "" || o.kind == d.Kind }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	o, err := readOptions()
	if err == nil {
		err = run(ctx, o, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func readOptions() (options, error) {
	var o options
	flag.BoolVar(&o.all, "all", false, "try every test that is found, and write the lists of those that pass anew")
	flag.StringVar(&o.kind, "driver", "", "rbd or cephfs (default: both)")
	flag.IntVar(&o.parallel, "parallel", 6, "how many tests run at the same time")
	flag.BoolVar(&o.keep, "keep", false, "keep the folder with the cluster's state and all logs")
	flag.Parse()
	known := slices.ContainsFunc(driver.All, func(d driver.Driver) bool { return o.wants(d) })
	if !known || flag.NArg() > 0 {
		return o, errors.New("-driver is rbd or cephfs, and there are no arguments")
	}
	return o, nil
}
