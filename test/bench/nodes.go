package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/node"
	"github.com/openshift/ceph-csi-driver-operator/test/onnodes"
)

// impossibleError is why a row cannot be measured on this machine.
type impossibleError struct{ reason error }

func (e impossibleError) Error() string { return strings.Join(strings.Fields(e.reason.Error()), " ") }

// onNodes is what was measured on real nodes, by drivers' names.
type onNodes struct {
	available, bound, inUse, mounted map[string]float64
	containers                       []onnodes.Container
	err                              error
}

// nodeRows are measured on real nodes, in a cluster of their own that is gone before the others.
func (b *bench) nodeRows() []row {
	times := func(of func(*onNodes) map[string]float64) func(context.Context, driver.Driver) (float64, error) {
		return func(ctx context.Context, d driver.Driver) (float64, error) {
			nodes := b.onNodes(ctx)
			return of(nodes)[d.Name], nodes.err
		}
	}
	out := []row{
		{what: "real nodes: README's commands → Available", unit: seconds, target: atMost(10), take: times(func(n *onNodes) map[string]float64 { return n.available })},
		{what: "real nodes: first claim → bound", unit: seconds, take: times(func(n *onNodes) map[string]float64 { return n.bound })},
		{what: "real nodes: first pod → its kubelet's next status, before which it mounts nothing", unit: seconds, take: times(func(n *onNodes) map[string]float64 { return n.inUse })},
		{what: "real nodes: first claim → mounted in a pod that runs", unit: seconds, target: atMost(5), take: times(func(n *onNodes) map[string]float64 { return n.mounted })},
	}
	for _, p := range places {
		for _, container := range p.containers {
			out = append(out, row{what: fmt.Sprintf("real nodes: RssAnon of %s, %s", p.what, container), unit: megabytes, take: b.privateOf(p, container)})
		}
	}
	return out
}

// place is one of the pods whose containers are looked at.
type place struct {
	what string
	// label and value select the pods.
	label      string
	value      func(driver.Driver) string
	containers []string
}

var places = []place{
	{what: "cluster-storage", label: "name", value: func(driver.Driver) string { return clusterstorage.Name }, containers: []string{all}},
	{what: "operator", label: "name", value: driver.Driver.OperatorName, containers: []string{all}},
	{what: "controller", label: "app", value: driver.Driver.ControllerName, containers: []string{
		"csi-driver", "csi-driver-metrics", "csi-provisioner", "csi-attacher", "csi-resizer", "csi-snapshotter", "csi-liveness-probe",
		"kube-rbac-proxy-driver", all,
	}},
	{what: "node", label: "app", value: driver.Driver.NodeName, containers: []string{"csi-driver", "csi-node-driver-registrar", "csi-liveness-probe", all}},
}

// all containers of a pod together.
const all = "whole pod"

// privateOf takes the figure of the pod with the most.
func (b *bench) privateOf(p place, container string) func(context.Context, driver.Driver) (float64, error) {
	return func(ctx context.Context, d driver.Driver) (float64, error) {
		nodes := b.onNodes(ctx)
		if nodes.err != nil {
			return 0, nodes.err
		}
		most := largest(nodes.containers, p.label, p.value(d), container)
		if most == 0 {
			return 0, fmt.Errorf("no pod with %s=%s has container %s", p.label, p.value(d), container)
		}
		return most / 1e6, nil
	}
}

// largest is of the selected pods what the one with the most has, in bytes.
func largest(containers []onnodes.Container, label, value, name string) float64 {
	pods, most := map[string]float64{}, 0.0
	for _, c := range containers {
		if c.Pod.Labels[label] == value && (name == all || name == c.Name) {
			pods[c.Pod.Name] += float64(c.Private)
			most = max(most, pods[c.Pod.Name])
		}
	}
	return most
}

// onNodes measures once.
func (b *bench) onNodes(ctx context.Context) *onNodes {
	if b.nodes == nil {
		b.nodes = &onNodes{available: map[string]float64{}, bound: map[string]float64{}, inUse: map[string]float64{}, mounted: map[string]float64{}}
		b.nodes.err = b.nodes.measure(ctx, b.progress)
	}
	return b.nodes
}

func (n *onNodes) measure(ctx context.Context, progress io.Writer) (err error) {
	if err := node.Missing(); err != nil {
		return impossibleError{err}
	}
	cluster, err := onnodes.Start(ctx, embedded.Options{Log: progress})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	begin := time.Now()
	if err := cluster.Install(ctx); err != nil {
		return err
	}
	if err := n.take(ctx, n.available, func(ctx context.Context, d driver.Driver) (float64, error) {
		err := cluster.Available(ctx, d)
		return time.Since(begin).Seconds(), err
	}); err != nil {
		return err
	}
	for _, d := range driver.All {
		if err := n.use(ctx, cluster, d); err != nil {
			return err
		}
	}
	n.containers, err = cluster.Containers(ctx, driver.Namespace)
	return err
}

// take measures for all drivers at the same time.
func (n *onNodes) take(ctx context.Context, into map[string]float64, measure func(context.Context, driver.Driver) (float64, error)) error {
	figures := make([]float64, len(driver.All))
	group, ctx := errgroup.WithContext(ctx)
	for i, d := range driver.All {
		group.Go(func() error {
			var err error
			figures[i], err = measure(ctx, d)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, d := range driver.All {
		into[d.Name] = figures[i]
	}
	return nil
}

// use measures the first volume of a driver, with a pod that is made when it is bound.
func (n *onNodes) use(ctx context.Context, cluster *onnodes.Cluster, d driver.Driver) error {
	name := "first-" + d.Kind
	begin := time.Now()
	if err := cluster.Claim(ctx, name, d.StorageClass); err != nil {
		return err
	}
	if err := cluster.Bound(ctx, name); err != nil {
		return err
	}
	n.bound[d.Name] = time.Since(begin).Seconds()
	group, ctx := errgroup.WithContext(ctx)
	created := time.Now()
	group.Go(func() error {
		err := cluster.InUse(ctx, name)
		n.inUse[d.Name] = time.Since(created).Seconds()
		return err
	})
	group.Go(func() error {
		err := cluster.Mount(ctx, name, name)
		n.mounted[d.Name] = time.Since(begin).Seconds()
		return err
	})
	return group.Wait()
}
