// Command cephcsi stands in for ceph-csi in tests: a CSI driver with its flags, files, sockets and
// ports, that does in Ceph what ceph-csi does, in the same order and with the rights of the same
// users, and refuses what ceph-csi refuses. It is never shipped.
package main

import (
	"errors"
	"fmt"
	"os"

	"k8s.io/klog/v2"

	"github.com/openshift/ceph-csi-driver-operator/test/standins/cephcsi/access"
)

func main() {
	o, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if o.version {
		fmt.Println("Cephcsi Version:", release, "(a stand-in)")
		return
	}
	if err := run(o); err != nil {
		klog.Error(err)
		klog.Flush()
		os.Exit(1)
	}
}

func run(o options) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := access.WriteConf(); err != nil {
		return fmt.Errorf("failed to write ceph configuration file (%w)", err)
	}
	switch o.kind {
	case "rbd", "cephfs":
		return serve(o)
	case "liveness":
		return liveness(o)
	}
	return errors.New("the stand-in has no driver of type " + o.kind)
}
