// Package uninstall takes the operator off a cluster: operands, operators, `cluster-storage`
// itself, and what they wrote into Storage/cluster. It never touches a volume, and nothing in
// Ceph but the marks of pool protection.
package uninstall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/virtualization"
)

// ErrRefused says that something on the cluster forbids it.
var ErrRefused = errors.New("not uninstalled")

// ErrNotConfirmed says that whoever was asked did not say yes.
var ErrNotConfirmed = errors.New("nothing was removed: not confirmed")

// podTimeout is how long a deleted Deployment's pods may take to end.
const podTimeout = 2 * time.Minute

// Options say what to do, and with what.
type Options struct {
	Kube    kubernetes.Interface
	Dynamic dynamic.Interface
	// Operators returns manifests by the paths that clusterstorage.Configs names.
	Operators func(path string) ([]byte, error)
	// Operands are the manifests of the drivers' operands, by the driver's name.
	Operands map[string]assets.Set
	// Release takes the marks of an OpenShift cluster, by its infra ID, off the pools of the Ceph
	// cluster that data declares, as a Secret does; nil leaves them.
	Release func(ctx context.Context, data map[string][]byte, infraID string) error
	// RookNamespaces are where Rook declares Ceph clusters, beside those that ClusterCSIDrivers
	// name: these are gone when the command is run again.
	RookNamespaces []string
	// Force goes on although PersistentVolumes or VolumeSnapshotContents of the drivers exist.
	Force bool
	// Confirm asks whether the objects that were listed shall be removed.
	Confirm func() (bool, error)
	// Out gets what will be done, and what was done.
	Out io.Writer
}

// object is something that is to be removed.
type object struct {
	target
	live *unstructured.Unstructured
}

// Run lists what is there, asks, and removes it. It may be run again after an error.
func Run(ctx context.Context, o Options) error {
	if err := refuse(ctx, o); err != nil {
		return err
	}
	objects, err := find(ctx, o)
	if err != nil {
		return err
	}
	conditions, err := conditionsOf(ctx, o)
	if err != nil {
		return err
	}
	traces, err := tracesOf(ctx, o)
	if err != nil {
		return err
	}
	var ceph []declaration
	if o.Release != nil {
		if ceph, err = declarations(ctx, o); err != nil {
			return err
		}
	}
	tell(o, objects, conditions, traces)
	confirmed, err := o.Confirm()
	if err != nil {
		return err
	}
	if !confirmed {
		return ErrNotConfirmed
	}
	if err := remove(ctx, o, objects); err != nil {
		return err
	}
	for _, t := range traces {
		if err := t.Remove(ctx); err != nil {
			return fmt.Errorf("%w; run the command again", err)
		}
	}
	if err := releaseConditions(ctx, o); err != nil {
		return err
	}
	if err := forget(ctx, o); err != nil {
		return err
	}
	fmt.Fprintln(o.Out, "Removed.")
	if err := releaseProtection(ctx, o, ceph); err != nil {
		return err
	}
	return tellWhatStays(ctx, o)
}

// tell lists what will be done.
func tell(o Options, objects []object, conditions []string, traces []virtualization.Trace) {
	if len(objects)+len(conditions)+len(traces) == 0 {
		fmt.Fprintln(o.Out, "Nothing of the operator is on this cluster.")
	} else {
		fmt.Fprintln(o.Out, "Will remove:")
	}
	for _, found := range objects {
		fmt.Fprintln(o.Out, "  "+found.String())
	}
	for _, t := range traces {
		fmt.Fprintln(o.Out, "  "+t.What)
	}
	if len(conditions) > 0 {
		fmt.Fprintln(o.Out, "  from Storage cluster the conditions "+strings.Join(conditions, ", "))
	}
	if o.Release != nil {
		fmt.Fprintln(o.Out, "Will release, in Ceph, the pools that this cluster keeps from removal.")
	}
	fmt.Fprintln(o.Out, "Volumes, pools, filesystems and Ceph users stay.")
}

// tracesOf are what the drivers' operators wrote into objects of virtualization platforms.
func tracesOf(ctx context.Context, o Options) ([]virtualization.Trace, error) {
	var out []virtualization.Trace
	for _, d := range o.drivers() {
		found, err := virtualization.Traces(ctx, o.Dynamic, d)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// drivers are those whose operands are known.
func (o Options) drivers() []driver.Driver {
	var out []driver.Driver
	for _, d := range driver.All {
		if _, ok := o.Operands[d.Name]; ok {
			out = append(out, d)
		}
	}
	return out
}
