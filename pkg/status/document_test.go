package status

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/connection"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/credentials"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/monitors"
	"github.com/openshift/ceph-csi-driver-operator/pkg/nodes"
	"github.com/openshift/ceph-csi-driver-operator/pkg/pools"
	"github.com/openshift/ceph-csi-driver-operator/pkg/tags"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
	"github.com/openshift/ceph-csi-driver-operator/pkg/virtualization"
)

const secret = "AQBsecret=="

func newSources() Sources {
	return Sources{
		Clusters: &ctrl.Latest[[]ceph.Cluster]{}, Connections: &ctrl.Latest[[]connection.Report]{},
		Users: &ctrl.Latest[credentials.Users]{}, Pools: &ctrl.Latest[pools.Report]{}, MonSync: &ctrl.Latest[monitors.Sync]{}, WrittenMons: &ctrl.Latest[monitors.Written]{}, Tags: &ctrl.Latest[tags.Report]{},
		Machines: &ctrl.Latest[virtualization.Machines]{}, Nodes: &ctrl.Latest[nodes.Report]{}, Capacities: &ctrl.Latest[pools.Capacities]{},
		Expiries: func() map[string]time.Time { return nil },
		Usage:    &ctrl.Latest[usage.Usage]{}, Placement: &ctrl.Latest[ceph.Placement]{},
	}
}

func cluster(t *testing.T, fsid string, epoch int64) ceph.Cluster {
	t.Helper()
	dump := `{"fsid":"7b2fc1c0-6f4c-4d5c-9a5d-0d6a2b6f9d11","epoch":1,"mons":[{"name":"a","public_addrs":{"addrvec":[
		{"type":"v2","addr":"10.0.0.1:3300","nonce":0},{"type":"v1","addr":"10.0.0.1:6789","nonce":0}]}},
		{"name":"never","public_addrs":{"addrvec":[{"type":"v1","addr":"0.0.0.0:0","nonce":1}]}}]}`
	m, err := ceph.ParseMonDump([]byte(dump))
	if err != nil {
		t.Fatal(err)
	}
	m.FSID, m.Epoch = fsid, epoch
	return ceph.Cluster{FSID: fsid, MonMap: m, Credentials: ceph.Credentials{UserID: "admin", Key: ceph.NewKey(secret)}}
}

func (s Sources) tellAll(t *testing.T, now time.Time) {
	t.Helper()
	s.Clusters.Set([]ceph.Cluster{cluster(t, "f2", 1), cluster(t, "f1", 2)})
	s.Connections.Set([]connection.Report{
		{FSID: "f1", Sources: []string{"Secret b", "Secret a"}, Reachable: true, Version: "19.2.3", Epoch: 2, EpochSince: now.Add(-time.Minute)},
		{FSID: "f2", Reachable: false}, {Sources: []string{"Secret wrong"}}, {Sources: []string{"Secret dull"}},
	})
	s.Users.Set(credentials.Users{Mode: "Mint", Names: []string{"client.b", "client.a"}})
	s.Pools.Set(pools.Report{Missing: map[string][]string{"f1": {"gone"}}, Protected: map[string][]string{"f1": {"p", "d"}}, Unprotected: map[string][]string{"f1": {"u"}}})
	s.Tags.Set(tags.Report{"f1": {Tagged: 1, Untagged: 2, Conflicting: 3, Missing: 4, NothingToTag: 5}})
	s.WrittenMons.Set(monitors.Written{"f1": 2})
	s.MonSync.Set(monitors.Sync{Seconds: 0.5})
	s.Machines.Set(virtualization.Machines{"vms": {"image": "", "backup": "nobody makes them"}})
	s.Nodes.Set(nodes.Report{Served: 5, NotServed: 2, NotReady: 1, LeftOut: 3})
	s.Capacities.Set(pools.Capacities{"f1": {
		{Pool: "d", Volumes: 2, Measured: true, Stored: 30, Available: 10}, {Pool: "new", Volumes: 1},
	}})
	s.Usage.Set(usage.Usage{
		Places: []usage.Place{
			{Placement: ceph.Placement{FSID: "f1", Pool: "p", DataPool: "d"}, Volumes: 2},
			{Placement: ceph.Placement{FSID: "f1", Pool: "p"}, Volumes: 1},
			{Placement: ceph.Placement{FSID: "elsewhere", Pool: "x"}, Volumes: 4},
		},
		Legacy: []usage.Legacy{{Volumes: 3}},
	})
	s.Placement.Set(ceph.Placement{FSID: "f1", Pool: "p", DataPool: "d"})
}

const everything = `cephClusters:
- fsid: f1
  monitors:
    a:
    - v2:10.0.0.1:3300
    - v1:10.0.0.1:6789
  monmapEpoch: 2
  pools:
    inUse:
    - d
    - p
    missing:
    - gone
    protected:
    - d
    - p
  sources:
  - Secret a
  - Secret b
  tags:
    conflicting: 3
    missing: 4
    nothingToTag: 5
    tagged: 1
    untagged: 2
  version: 19.2.3
  volumes: 3
- fsid: f2
  monitors:
    a:
    - v2:10.0.0.1:3300
    - v1:10.0.0.1:6789
  monmapEpoch: 1
  pools: {}
  volumes: 0
credentials:
  mode: Mint
  users:
  - client.a
  - client.b
defaultClass:
  dataPool: d
  fsid: f1
  pool: p
driver: rbd.csi.ceph.com
legacyVolumes: 3
virtualMachines:
  vms:
    backup: 'no: nobody makes them'
    image: "yes"
volumes: 7
`

const little = `cephClusters:
- fsid: f1
  monitors:
    a:
    - v2:10.0.0.1:3300
    - v1:10.0.0.1:6789
  monmapEpoch: 1
  pools: {}
  volumes: 0
driver: rbd.csi.ceph.com
legacyVolumes: 0
volumes: 0
`

func TestRender(t *testing.T) {
	all, some := newSources(), newSources()
	all.tellAll(t, time.Now())
	some.Clusters.Set([]ceph.Cluster{cluster(t, "f1", 1)})
	for name, tc := range map[string]struct {
		sources Sources
		want    string
	}{"Everything": {all, everything}, "Little": {some, little}} {
		t.Run(name, func(t *testing.T) {
			clusters, _ := tc.sources.Clusters.Get()
			got, err := render(tc.sources.facts(driver.RBD, clusters))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			doc, err := Read(&corev1.ConfigMap{Data: map[string]string{key: got}})
			if again, _ := yaml.Marshal(doc); err != nil || string(again) != got {
				t.Errorf("read as %s, %v", again, err)
			}
			if strings.Contains(got, secret) {
				t.Error("it has a key")
			}
		})
	}
}

func TestReadErrors(t *testing.T) {
	for name, data := range map[string]map[string]string{"Empty": nil, "Text": {key: "[]"}} {
		if doc, err := Read(&corev1.ConfigMap{Data: data}); err == nil {
			t.Errorf("%s: read as %+v", name, doc)
		}
	}
}
