package main

import (
	"context"
	"fmt"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// quietTime is how long an operator asks for nothing once it has nothing to do.
const quietTime = 4 * time.Second

// install has the figures of all fresh installs of one driver.
type install struct {
	workloadTimes, availables, settleds, degradeds, classTimes, cpus []float64
	allWrites, statusWrites                                          []float64
}

func (i install) workloads() float64 { return median(i.workloadTimes) }
func (i install) available() float64 { return median(i.availables) }
func (i install) settled() float64   { return median(i.settleds) }
func (i install) classes() float64   { return median(i.classTimes) }
func (i install) cpu() float64       { return median(i.cpus) }
func (i install) writes() float64    { return median(i.allWrites) }

// conditionWrites are those to the status of the ClusterCSIDriver.
func (i install) conditionWrites() float64 { return median(i.statusWrites) }

// degraded counts all installs together.
func (i install) degraded() float64 {
	sum := 0.0
	for _, n := range i.degradeds {
		sum += n
	}
	return sum
}

// installed measures fresh installs of a driver, alone, once for all rows.
func (b *bench) installed(figure func(install) float64) func(context.Context, driver.Driver) (float64, error) {
	return func(ctx context.Context, d driver.Driver) (float64, error) {
		if b.installs[d.Name] == nil {
			var all install
			for range b.options.runs {
				if err := b.install(ctx, d, &all); err != nil {
					return 0, err
				}
			}
			b.installs[d.Name] = &all
		}
		return figure(*b.installs[d.Name]), nil
	}
}

func (b *bench) install(ctx context.Context, d driver.Driver, all *install) error {
	if err := b.fresh(ctx); err != nil {
		return err
	}
	if err := b.declare(ctx); err != nil {
		return err
	}
	if err := b.createDriver(ctx, d); err != nil {
		return err
	}
	begin, err := b.startOperator(ctx, d)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		what    string
		times   *[]float64
		matches []func(version) bool
	}{
		{"the workloads of " + d.Name, &all.workloadTimes, []func(version) bool{named(deployments, d.ControllerName()), named(daemonSets, d.NodeName())}},
		{"the classes of " + d.Name, &all.classTimes, []func(version) bool{named(storageClasses, d.StorageClass), named(snapshotClasses, d.SnapshotClass)}},
		{d.Name + " to be available", &all.availables, []func(version) bool{isAvailable(d)}},
	} {
		at, err := b.tape.latest(ctx, begin, step.what, step.matches...)
		if err != nil {
			return err
		}
		*step.times = append(*step.times, at.Sub(begin).Seconds())
	}
	return b.aftermath(ctx, d, begin, all)
}

// aftermath takes what is known only once an installation has settled.
func (b *bench) aftermath(ctx context.Context, d driver.Driver, begin time.Time, all *install) error {
	if err := b.quiet(ctx, d, quietTime); err != nil {
		return err
	}
	cpu, err := cpuTime(b.operators[d.Name].PID())
	if err != nil {
		return err
	}
	all.cpus = append(all.cpus, cpu.Seconds())
	requests, err := b.requests(d, begin)
	if err != nil {
		return err
	}
	all.settleds = append(all.settleds, lastStaticWrite(requests).Sub(begin).Seconds())
	writes, ofStatus := countWrites(requests)
	all.allWrites, all.statusWrites = append(all.allWrites, writes), append(all.statusWrites, ofStatus)
	flaps, err := b.flaps(d, begin)
	if err != nil {
		return err
	}
	all.degradeds = append(all.degradeds, float64(len(flaps)))
	for _, c := range flaps {
		fmt.Fprintf(b.progress, "%s: %s went True, %s: %s\n", d.Kind, c.Type, c.Reason, c.Message)
	}
	fmt.Fprintf(b.progress, "%s installed: available %.2f s, %d requests\n", d.Kind, all.availables, len(requests))
	return nil
}

func isAvailable(d driver.Driver) func(version) bool {
	return func(v version) bool {
		if !v.is(clusterCSIDrivers, d.Name) {
			return false
		}
		now, err := conditionsOf(v.object)
		return err == nil && now.available(d)
	}
}

// flaps are the times since begin that a condition of a driver went Degraded.
func (b *bench) flaps(d driver.Driver, begin time.Time) ([]operatorv1.OperatorCondition, error) {
	versions, _, err := b.tape.since(begin)
	if err != nil {
		return nil, err
	}
	var history []conditions
	for _, v := range versions {
		if !v.is(clusterCSIDrivers, d.Name) {
			continue
		}
		now, err := conditionsOf(v.object)
		if err != nil {
			return nil, err
		}
		history = append(history, now)
	}
	return turnedDegraded(history), nil
}

// settled waits until the driver is available and its operator has nothing to do.
func (b *bench) settled(ctx context.Context, d driver.Driver) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		if err := b.quiet(ctx, d, quietTime); err != nil {
			return err
		}
		current, err := b.dynamic.Resource(clusterCSIDrivers).Get(ctx, d.Name, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("waiting for %s to be available: %w", d.Name, err)
		}
		now, err := conditionsOf(current)
		if err != nil || now.available(d) {
			return err
		}
	}
}

// created measures what a ClusterCSIDriver costs under an operator that runs already.
func (b *bench) created(ctx context.Context, d driver.Driver) (float64, error) {
	var times []float64
	for range b.options.runs {
		if err := b.fresh(ctx); err != nil {
			return 0, err
		}
		if err := b.declare(ctx); err != nil {
			return 0, err
		}
		if _, err := b.startOperator(ctx, d); err != nil {
			return 0, err
		}
		if err := b.quiet(ctx, d, quietTime); err != nil {
			return 0, err
		}
		begin := time.Now()
		if err := b.createDriver(ctx, d); err != nil {
			return 0, err
		}
		both, err := b.tape.latest(ctx, begin, "workloads of "+d.Name, named(deployments, d.ControllerName()), named(daemonSets, d.NodeName()))
		if err != nil {
			return 0, err
		}
		times = append(times, both.Sub(begin).Seconds())
		if err := b.settled(ctx, d); err != nil {
			return 0, err
		}
	}
	fmt.Fprintf(b.progress, "%s created: %.2f s\n", d.Kind, times)
	return median(times), nil
}
