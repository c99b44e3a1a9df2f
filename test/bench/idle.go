package main

import (
	"context"
	"fmt"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// traffic is what an idle operator asks for, and the memory that it has then.
type traffic struct {
	requests []auditv1.Event
	while    time.Duration
	memory   memory
}

func (t traffic) rate() float64    { return float64(len(t.requests)) / t.while.Seconds() }
func (t traffic) private() float64 { return t.memory.private() }

func (t traffic) writes() float64 {
	n := 0
	for _, r := range t.requests {
		if isWrite(r) {
			n++
		}
	}
	return float64(n)
}

// idling measures both operators while nobody touches the cluster, once for all rows.
func (b *bench) idling(figure func(traffic) float64) func(context.Context, driver.Driver) (float64, error) {
	return func(ctx context.Context, d driver.Driver) (float64, error) {
		if b.idle == nil {
			if err := b.leaveAlone(ctx); err != nil {
				return 0, err
			}
		}
		return figure(b.idle[d.Name]), nil
	}
}

func (b *bench) leaveAlone(ctx context.Context) error {
	if err := b.deployed(ctx); err != nil {
		return err
	}
	begin := time.Now()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(b.options.idle):
	}
	idle := map[string]traffic{}
	for _, d := range driver.All {
		requests, err := b.requests(d, begin)
		if err != nil {
			return err
		}
		for _, r := range requests {
			fmt.Fprintf(b.progress, "%s idle: %s %s\n", d.Kind, r.Verb, r.RequestURI)
		}
		m, err := memoryOf(b.operators[d.Name].PID())
		if err != nil {
			return err
		}
		idle[d.Name] = traffic{requests, time.Since(begin), m}
	}
	b.idle = idle
	return nil
}
