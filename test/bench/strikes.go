package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/faults"
)

// strikeAll has one fault after the other, of one operator and then of the other. Those that end an operator come in the
// first quarter of the time, so that what the others leave behind adds up.
func (b *bench) strikeAll(ctx context.Context, loads map[string]*load) error {
	ending := slices.DeleteFunc(slices.Clone(faults.OfAPI), func(f faults.Fault) bool { return !f.Ends || f.Each > 0 })
	// Ceph has nothing here that it could be full of, and the operators have the machine's clock.
	others := slices.DeleteFunc(slices.Clone(faults.OfAPI), func(f faults.Fault) bool { return f.Ends || f.Silent == faults.Room || f.Jump != 0 })
	begin := time.Now()
	for i := 0; time.Since(begin) < b.options.load; i++ {
		some := others
		if time.Since(begin) < b.options.load/4 {
			some = ending
		}
		for _, d := range driver.All {
			took, err := b.strike(ctx, d, some[i%len(some)])
			if err != nil {
				return err
			}
			loads[d.Name].slowest = max(loads[d.Name].slowest, took)
			for _, l := range loads {
				l.faults++
			}
		}
	}
	return nil
}

// strike deletes a class, breaks the first write that follows, and returns when all is as it was.
func (b *bench) strike(ctx context.Context, d driver.Driver, fault faults.Fault) (time.Duration, error) {
	list, err := b.dynamic.Resource(snapshotClasses).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return 0, fmt.Errorf("listing classes of snapshots: %w", err)
	}
	classes := b.dynamic.Resource(snapshotClasses)
	gone, err := classes.Get(ctx, d.SnapshotClass, metav1.GetOptions{})
	if err != nil {
		return 0, fmt.Errorf("class of snapshots: %w", err)
	}
	b.proxies[d.Name].Arm(fault, 1, list.GetResourceVersion(), b.struck(d, fault))
	if err := classes.Delete(ctx, d.SnapshotClass, metav1.DeleteOptions{}); err != nil {
		return 0, fmt.Errorf("deleting the class of snapshots: %w", err)
	}
	begin := time.Now()
	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		if b.operators[d.Name].Exited() != nil {
			if err := b.operators[d.Name].Restart(); err != nil {
				return 0, err
			}
		}
		now, err := classes.Get(limit, d.SnapshotClass, metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return 0, fmt.Errorf("%s: class of snapshots after %q: %w", d.Name, fault.Name, err)
		}
		if err == nil && now.GetUID() != gone.GetUID() && b.proxies[d.Name].Hit() != "" && b.proxies[d.Name].Clear() && b.silenced.Load() == 0 {
			took := time.Since(begin)
			fmt.Fprintf(b.progress, "%s: %s at %s: %.1f s\n", d.Kind, fault.Name, b.proxies[d.Name].Hit(), took.Seconds())
			return took, nil
		}
		select {
		case <-limit.Done():
			return 0, fmt.Errorf("%s: the class of snapshots does not come back after %q: %w", d.Name, fault.Name, limit.Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// struck does what is not the API server's.
func (b *bench) struck(d driver.Driver, fault faults.Fault) func() {
	return func() {
		if fault.Ends {
			b.operators[d.Name].Kill()
		}
		if fault.Silent != "" {
			b.silenced.Add(1)
			faults.Freeze(context.Background(), b.cluster.Ceph(), fault.Silent, fault.Dies, func(err error) {
				if err != nil {
					fmt.Fprintln(b.progress, err)
					return // That it never ends says the strike.
				}
				b.silenced.Add(-1)
			})
		}
	}
}

// intercept puts a proxy in front of the API server for each operator that is started from now on.
func (b *bench) intercept() error {
	certificate, key := b.cluster.ServingFiles()
	for _, d := range driver.All {
		proxy, err := faults.Start(b.cluster.AdminConfig(), certificate, key)
		if err != nil {
			return err
		}
		b.proxies[d.Name] = proxy
	}
	return nil
}

// apiServer is where the operator of a driver finds it.
func (b *bench) apiServer(d driver.Driver) string {
	if proxy := b.proxies[d.Name]; proxy != nil {
		return proxy.URL()
	}
	return b.cluster.AdminConfig().Host
}
