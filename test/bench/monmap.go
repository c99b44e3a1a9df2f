package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// monChange is how a driver took changes of the monmap.
type monChange struct {
	// times from each quorum to the Secret.
	times []float64
	// changed are the workloads and pods that are not as before.
	changed []string
}

func (m monChange) latest() float64    { return slices.Max(m.times) }
func (m monChange) disturbed() float64 { return float64(len(m.changed)) }

// monitored adds mons to Ceph and takes them away, once for all rows.
func (b *bench) monitored(figure func(monChange) float64) func(context.Context, driver.Driver) (float64, error) {
	return func(ctx context.Context, d driver.Driver) (float64, error) {
		if b.monChanges == nil {
			if err := b.changeMons(ctx); err != nil {
				return 0, err
			}
		}
		return figure(b.monChanges[d.Name]), nil
	}
}

func (b *bench) changeMons(ctx context.Context) error {
	if err := b.deployed(ctx); err != nil {
		return err
	}
	before, err := b.running(ctx)
	if err != nil {
		return err
	}
	changes := map[string]monChange{}
	for i := range b.options.runs {
		times, err := b.addMon(ctx, fmt.Sprintf("bench%d", i))
		if err != nil {
			return err
		}
		for _, d := range driver.All {
			c := changes[d.Name]
			c.times = append(c.times, times[d.Name])
			changes[d.Name] = c
		}
	}
	after, err := b.running(ctx)
	if err != nil {
		return err
	}
	for _, d := range driver.All {
		c := changes[d.Name]
		c.changed = differences(before, after, "ceph-"+d.Kind+"-")
		changes[d.Name] = c
		fmt.Fprintf(b.progress, "%s: config.json follows after %.2f s, changed: %q\n", d.Kind, c.times, c.changed)
	}
	b.monChanges = changes
	return nil
}

// addMon returns how long each driver's Secret took from the quorum with a new mon, in seconds.
func (b *bench) addMon(ctx context.Context, name string) (map[string]float64, error) {
	ceph, begin := b.cluster.Ceph(), time.Now()
	if err := ceph.AddMon(ctx, name); err != nil {
		return nil, err
	}
	log, err := ceph.Command(ctx, "log", "last", "100", "info", "cluster", "--format", "json")
	if err != nil {
		return nil, err
	}
	quorum, err := quorumWith(log, name)
	if err != nil {
		return nil, err
	}
	address, err := plainAddress(ceph.MonHost(name))
	if err != nil {
		return nil, err
	}
	times := map[string]float64{}
	for _, d := range driver.All {
		v, err := b.tape.first(ctx, begin, "mon "+name+" in Secret "+d.ConfigSecret(), func(v version) bool {
			return v.is(secrets, d.ConfigSecret()) && strings.Contains(configJSON(v.object), `"`+address+`"`)
		})
		if err != nil {
			return nil, err
		}
		times[d.Name] = v.at.Sub(quorum).Seconds()
	}
	if err := ceph.RemoveMon(ctx, name); err != nil {
		return nil, err
	}
	return times, b.deployed(ctx)
}

// quorumWith finds in Ceph's cluster log when the mons last had a quorum with a named mon.
func quorumWith(log []byte, name string) (time.Time, error) {
	var entries []struct{ Stamp, Message string }
	if err := json.Unmarshal(log, &entries); err != nil {
		return time.Time{}, fmt.Errorf("answer of `ceph log last`: %w", err)
	}
	members := regexp.MustCompile(`is new leader, mons (\S+) in quorum`)
	for _, e := range slices.Backward(entries) {
		m := members.FindStringSubmatch(e.Message)
		if m != nil && slices.Contains(strings.Split(m[1], ","), name) {
			return time.Parse("2006-01-02T15:04:05.999999-0700", e.Stamp)
		}
	}
	return time.Time{}, fmt.Errorf("no quorum with mon %s in the log of Ceph", name)
}

var v1Address = regexp.MustCompile(`v1:([^,\]/]+)`)

// plainAddress is the "ip:port" of a mon in the form of mon_host that kernel clients use.
func plainAddress(monHost string) (string, error) {
	m := v1Address.FindStringSubmatch(monHost)
	if m == nil {
		return "", fmt.Errorf("mon address %q has no v1", monHost)
	}
	return m[1], nil
}

func configJSON(secret *unstructured.Unstructured) string {
	encoded, _, _ := unstructured.NestedString(secret.Object, "data", "config.json")
	content, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return ""
	}
	return string(content)
}

// running has the generation of each workload and the identity of each pod of the drivers.
func (b *bench) running(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	for _, resource := range []schema.GroupVersionResource{deployments, daemonSets, pods} {
		list, err := b.dynamic.Resource(resource).Namespace(driver.Namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", resource.Resource, err)
		}
		for _, o := range list.Items {
			out[o.GetName()+" "+resource.Resource] = fmt.Sprint(o.GetUID(), o.GetGeneration())
		}
	}
	return out, nil
}

// differences are the keys with a prefix that are not the same in both.
func differences(before, after map[string]string, prefix string) []string {
	all := map[string]bool{}
	for _, side := range []map[string]string{before, after} {
		for key := range side {
			if strings.HasPrefix(key, prefix) && before[key] != after[key] {
				all[key] = true
			}
		}
	}
	var out []string
	for key := range all {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}
