// Package uninstall takes the operator off a cluster: operands, operators, `cluster-storage`
// itself, and what they wrote into Storage/cluster. It never touches a volume, and nothing in
// Ceph but the marks of pool protection and the drivers' users; these it takes away before anything
// that leads to Ceph.
package uninstall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/virtualization"
)

// ErrRefused says that something on the cluster forbids it.
var ErrRefused = errors.New("not uninstalled")

// ErrNotConfirmed says that whoever was asked did not say yes.
var ErrNotConfirmed = errors.New("nothing was removed: not confirmed")

// Options say what to do, and with what.
type Options struct {
	Kube    kubernetes.Interface
	Dynamic dynamic.Interface
	// Operators returns manifests by the paths that configs.Configs names.
	Operators func(path string) ([]byte, error)
	// Operands are the manifests of the drivers' operands, by the driver's name.
	Operands map[string]assets.Set
	// Dial connects to the Ceph cluster that source.Monitors lead to; nil leaves Ceph alone.
	Dial func(ctx context.Context, source ceph.Source) (Ceph, error)
	// Resolve finds the addresses of mons that are declared by name.
	Resolve ceph.Resolver
	// Declared leads to a Ceph cluster, as the data of a Secret does, and InfraID says who this
	// cluster was, where nothing on it does any more; empty otherwise.
	Declared map[string][]byte
	InfraID  string
	// RookNamespaces are where Rook declares Ceph clusters, beside those that ClusterCSIDrivers
	// name, which may be gone.
	RookNamespaces []string
	// Force goes on although PersistentVolumes or VolumeSnapshotContents of the drivers exist.
	Force bool
	// Confirm asks whether the objects that were listed shall be removed.
	Confirm func() (bool, error)
	// Out gets what will be done, and what was done.
	Out io.Writer
	// Clock measures how long operators may take to end.
	Clock clock.Clock
}

// object is something that is to be removed.
type object struct {
	target
	live     *unstructured.Unstructured
	resource schema.GroupVersionResource
}

// Run lists what is there, asks, and removes it. It may be run again after an error.
func Run(ctx context.Context, o Options) error {
	stands, err := look(ctx, o)
	if err != nil {
		return err
	}
	if err := stands.refusal(o.Force); err != nil {
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
	clusters := &cephClusters{}
	if o.Dial != nil {
		clusters, err = reach(ctx, o, stands.volumed())
		defer clusters.close()
		if err != nil {
			return err
		}
	}
	nothing := len(objects)+len(conditions)+len(traces) == 0
	if nothing && o.Dial != nil && len(clusters.reached) == 0 {
		return fmt.Errorf("%w: nothing of the operator is on this cluster, and nothing says which Ceph cluster it used, if any, where pools may still be kept from removal: "+
			"%s releases them, --leave-ceph leaves them", ErrLeft, later(o.InfraID))
	}
	tell(o, objects, conditions, traces, clusters)
	confirmed, err := o.Confirm()
	if err != nil {
		return err
	}
	if !confirmed {
		return ErrNotConfirmed
	}
	left, err := remaining(ctx, o)
	if err != nil {
		return err
	}
	if err := act(ctx, o, objects, traces, clusters); err != nil {
		return err
	}
	if err := tellWhatStays(ctx, o); err != nil {
		return err
	}
	return conclude(ctx, o, clusters, left)
}

// act stops the operators, releases what is in Ceph, and removes what leads there last.
func act(ctx context.Context, o Options, objects []object, traces []virtualization.Trace, clusters *cephClusters) error {
	writers := slices.IndexFunc(append(slices.Clone(objects), object{}), func(o object) bool { return !o.writer })
	if err := remove(ctx, o, objects[:writers]); err != nil {
		return err
	}
	if err := clusters.lookAgain(ctx, o); err != nil {
		return err
	}
	if err := clusters.alone(ctx, o.Clock); err != nil {
		return err
	}
	if err := clusters.release(ctx, o); err != nil {
		return err
	}
	if err := remove(ctx, o, objects[writers:]); err != nil {
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
	return forget(ctx, o)
}

// conclude says that all is removed, if it is; left are commands for what was to be left in Ceph.
func conclude(ctx context.Context, o Options, clusters *cephClusters, left []string) error {
	if o.Dial == nil {
		name, err := infraID(ctx, o)
		if err != nil {
			return err
		}
		fmt.Fprintf(o.Out, "Removed from this cluster. Pools in Ceph that it keeps from removal stay so, and so do its Ceph users: %s releases and removes them, "+
			"or an administrator of Ceph:\n  %s\n", later(name), strings.Join(left, "\n  "))
		return nil
	}
	if len(clusters.unseen) > 0 {
		return fmt.Errorf("%w: nothing on this cluster leads to the Ceph clusters %s, which it used before; pools there may still be kept from removal: %s releases them",
			ErrLeft, strings.Join(clusters.unseen, ", "), later(clusters.infraID))
	}
	fmt.Fprintln(o.Out, "Removed.")
	return nil
}

// tell lists what will be done.
func tell(o Options, objects []object, conditions []string, traces []virtualization.Trace, clusters *cephClusters) {
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
	for _, name := range conditions {
		fmt.Fprintf(o.Out, "  condition %s of Storage cluster\n", name)
	}
	for _, c := range clusters.reached {
		if len(c.pools) > 0 {
			fmt.Fprintf(o.Out, "Will release pools of the Ceph cluster of %s, which this cluster keeps from removal: %s.\n", c.where, strings.Join(c.pools, ", "))
		}
		if len(c.users) > 0 {
			fmt.Fprintf(o.Out, "Will remove the Ceph users of the drivers from the Ceph cluster of %s: %s.\n", c.where, strings.Join(c.users, ", "))
		}
	}
	fmt.Fprintln(o.Out, "Volumes, pools and filesystems stay.")
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
