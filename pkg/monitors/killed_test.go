package monitors

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// TestKilledWhileAllMove: all mons move, and the process ends before, between or after the writes of the record, which
// pkg/connection makes first, and of the Secret. Before Ceph answers the next process, it knows the record alone.
func TestKilledWhileAllMove(t *testing.T) {
	old, between, moved := monmap(t, "v1:10.0.0.1:6789"), monmap(t, "v1:10.1.0.1:6789"), monmap(t, "v1:10.2.0.1:6789")
	for name, tc := range map[string]struct {
		reason           string
		recorded, secret ceph.MonMap
		alone            bool
		silent           ceph.MonMap
	}{
		"BeforeAll":   {reason: "nothing is known yet", recorded: old, secret: old, silent: old},
		"AfterRecord": {reason: "the old mons alone tell whose the entry is", recorded: moved, secret: old, silent: old},
		"MovedTwice":  {reason: "again meanwhile", recorded: between, secret: old, silent: old},
		"Refused":     {reason: "the API server took the Secret alone", recorded: old, secret: moved, silent: moved},
		"AfterSecret": {reason: "all is done", recorded: moved, secret: moved, silent: moved},
		"NobodyElse":  {reason: "no entry hangs on the old ones, and Ceph may be silent for long", recorded: moved, secret: old, silent: moved, alone: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			record, err := json.Marshal(state.ClusterOf(ceph.Cluster{FSID: cephtest.FSID, MonMap: tc.recorded}))
			if err != nil {
				t.Fatal(err)
			}
			expect := func(when string, mons ceph.MonMap) {
				t.Helper()
				want := map[string][]string{cephtest.FSID: mons.Monitors()}
				if !tc.alone {
					want["team"] = mons.Monitors()
				}
				c, err := readConfig(f.sync().Data[ConfigKey])
				got := map[string][]string{}
				for _, e := range c.entries {
					got[e.ClusterID] = e.Monitors
				}
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("%s, %s: %v (-want +got):\n%s", tc.reason, when, err, diff)
				}
			}
			f.recorded(map[string]string{"cluster": string(record)})
			f.cluster.Set(ceph.Cluster{FSID: cephtest.FSID, MonMap: tc.secret})
			f.sync()
			if !tc.alone {
				f.edit(func(s *corev1.Secret) {
					entries := `[{"clusterID":"team","monitors":["` + tc.secret.Monitors()[0] + `"]},`
					s.Data[ConfigKey] = append([]byte(entries), s.Data[ConfigKey][1:]...)
				})
			}
			f.cluster.Clear()
			f.controller = New(f.controller.Config)
			expect("silent", tc.silent)
			now := ceph.Cluster{FSID: cephtest.FSID, MonMap: moved}
			f.clusters.Set([]ceph.Cluster{now})
			f.sync()
			f.cluster.Set(now)
			expect("connected", moved)
		})
	}
}
