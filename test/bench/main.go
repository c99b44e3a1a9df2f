// Command bench measures on this machine how fast and how small the operators are: it starts the
// embedded cluster with a real Ceph, runs the operators of both drivers under their own
// ServiceAccounts, and prints one table.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess"
)

// options are what the bench is started with.
type options struct {
	// binary is the operator's.
	binary string
	// runs is how often a time is taken; its median counts.
	runs int
	// idle is how long nobody touches the cluster.
	idle time.Duration
	// large also measures with thousands of objects.
	large bool
	// load is how long much comes and goes on a large cluster, with faults; it is measured alone.
	load time.Duration
	// only picks rows by their names.
	only *regexp.Regexp
	// strict makes a missed target an error.
	strict bool
	// keep leaves the cluster's folder with all logs.
	keep bool
}

var errMissed = errors.New("a target is missed")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	o, err := readOptions()
	if err == nil {
		err = run(ctx, o, os.Stdout, os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func readOptions() (options, error) {
	var o options
	var only string
	flag.IntVar(&o.runs, "runs", 3, "how often each time is taken; the median counts")
	flag.DurationVar(&o.idle, "idle", 3*time.Minute, "how long requests of idle operators are counted")
	flag.BoolVar(&o.large, "large", true, "also measure with 20,000 PersistentVolumes, 1,000 Nodes and 500 StorageClasses")
	flag.DurationVar(&o.load, "load", 0, "measure only operators of a large cluster under load and faults, for as long")
	flag.StringVar(&only, "only", "", "measure only rows whose names match this regular expression")
	flag.BoolVar(&o.strict, "strict", false, "end with exit code 1 when a target is missed")
	flag.BoolVar(&o.keep, "keep", false, "keep the folder with the cluster's state and all logs")
	flag.Parse()
	if o.runs < 1 {
		return o, fmt.Errorf("-runs=%d: must be at least 1", o.runs)
	}
	var errs [2]error
	o.only, errs[0] = regexp.Compile(only)
	o.binary, errs[1] = operatorprocess.Binary()
	return o, errors.Join(errs[:]...)
}

// run prints the table on out and what it is doing on progress.
func run(ctx context.Context, o options, out, progress io.Writer) error {
	b, err := start(ctx, o, progress)
	if err != nil {
		return err
	}
	rows := b.rows()
	if o.load > 0 {
		rows = b.loadRows()
	}
	report, err := measure(ctx, rows, o, progress)
	err = errors.Join(err, b.stop(err))
	fmt.Fprint(out, report)
	if err == nil && o.strict && report.missed() {
		return errMissed
	}
	return err
}
