package status

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/component-base/metrics"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/pools"
	"github.com/openshift/ceph-csi-driver-operator/pkg/virtualization"
)

// crowded is a cluster with more StorageClasses and pools than anybody reads about.
func crowded(t *testing.T, name, why int) Sources {
	t.Helper()
	sources := newSources()
	sources.tellAll(t, time.Now())
	machines := virtualization.Machines{}
	var names []string
	for i := range 5000 {
		names = append(names, fmt.Sprintf("%04d-%s", i, strings.Repeat("x", name)))
		machines[names[i]] = map[string]string{"image": "", "backup": strings.Repeat("y", why)}
	}
	sources.Machines.Set(machines)
	sources.Pools.Set(pools.Report{Missing: map[string][]string{"f1": names}, Protected: map[string][]string{"f1": names}})
	var used []pools.Capacity
	for _, name := range names {
		used = append(used, pools.Capacity{Pool: name, Measured: true})
	}
	sources.Capacities.Set(pools.Capacities{"f1": used})
	return sources
}

// TestRoom: the API server takes no ConfigMap of more than 1 MiB.
func TestRoom(t *testing.T) {
	for _, tc := range []struct{ name, why, omitted int }{{20, 60, 4500}, {248, 60, 4500}, {248, 1000, 4750}} {
		sources := crowded(t, tc.name, tc.why)
		clusters, _ := sources.Clusters.Get()
		text, err := render(sources.facts(driver.RBD, clusters))
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > 1<<20 {
			t.Errorf("names of %d bytes: %d bytes", tc.name, len(text))
		}
		if !strings.Contains(text, fmt.Sprintf("\nvirtualMachinesOmitted: %d\n", tc.omitted)) || !strings.Contains(text, "    omitted: ") {
			t.Errorf("names of %d bytes: nothing says what is left out: %q", tc.name, text[len(text)-100:])
		}
	}
}

func TestSeriesAreBounded(t *testing.T) {
	registry := metrics.NewKubeRegistry()
	registry.CustomMustRegister(NewMetrics(crowded(t, 20, 60), clocktesting.NewFakePassiveClock(time.Now())))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	series, omitted := 0, map[string]float64{}
	for _, f := range families {
		series += len(f.GetMetric())
		if name, cut := strings.CutSuffix(f.GetName(), "_omitted"); cut {
			omitted[strings.TrimPrefix(name, "ceph_csi_driver_operator_")] = f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	if diff := cmp.Diff(map[string]float64{"virtual_machines": 4500, "pools": 4800}, omitted); diff != "" || series > 1700 {
		t.Errorf("%d series, and what is omitted:\n%s", series, diff)
	}
}
