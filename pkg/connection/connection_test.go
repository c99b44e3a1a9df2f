package connection

import (
	"slices"
	"strings"
	"testing"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
)

type step = func(*fixture)

func connected(f *fixture) { f.secret(f.admin()); f.sync() }

func with(entry, content string) step {
	return func(f *fixture) {
		data := f.admin()
		data[entry] = []byte(content)
		f.secret(data)
		f.sync()
	}
}

func TestCondition(t *testing.T) {
	const record = `{"fsid":"` + cephtest.FSID + `","epoch":1,"monitors":["10.20.0.2:6789"],"monHost":["v2:10.20.0.2:3300"]}`
	elsewhere := strings.ReplaceAll(record, cephtest.FSID, otherFSID)
	tests := map[string]struct {
		reason    string
		steps     []step
		want      string   // "False/AsExpected", "" for no condition
		fragments []string // of the message
		published string   // fsid
		alive     bool
	}{
		"NoSecret": {
			reason: "pkg/gate reports Disabled; a Degraded would spoil it",
			steps:  []step{(*fixture).sync}, want: "False/AsExpected",
		},
		"Connected": {
			reason: "the good case",
			steps:  []step{connected}, want: "False/AsExpected", published: cephtest.FSID, alive: true,
		},
		"SecretMissingButWanted": {
			reason: "after a restart too, what is deployed lacks its Secret",
			steps:  []step{func(f *fixture) { f.wanted = true; f.sync() }},
			want:   "True/CredentialsMissing", fragments: []string{"oc -n openshift-cluster-csi-drivers create secret generic ceph-credentials"},
		},
		"SecretMissingButRecorded": {
			reason: "a Ceph cluster without CephFS was declared, nothing was deployed: Disabled says what is to be said",
			steps:  []step{func(f *fixture) { f.recorded(record); f.sync() }}, want: "False/AsExpected",
		},
		"SecretMissingAndUndecided": {
			reason: "at a start pkg/gate may need a moment: neither value is known to be true",
			steps:  []step{func(f *fixture) { f.undecided = true; f.sync() }}, want: "",
		},
		"SecretDeleted": {
			reason: "everything goes on, and a person is told",
			steps:  []step{connected, func(f *fixture) { f.wanted = true; f.secret(nil); f.sync() }},
			want:   "True/CredentialsMissing", published: cephtest.FSID, alive: true,
		},
		"BadSecretDeleted": {
			reason: "nothing came of it, so nothing is missing",
			steps:  []step{with("keyring", ""), func(f *fixture) { f.secret(nil); f.sync() }}, want: "False/AsExpected",
		},
		"EmptySecret": {
			reason: "a Secret without any entry",
			steps:  []step{func(f *fixture) { f.secret(map[string][]byte{}); f.sync() }},
			want:   "True/CredentialsInvalid", fragments: []string{"openshift-cluster-csi-drivers/ceph-credentials", "ceph.conf"},
		},
		"EmptyConf":     {reason: "names the entry", steps: []step{with("ceph.conf", "")}, want: "True/CredentialsInvalid", fragments: []string{"ceph.conf is empty"}},
		"NoMons":        {reason: "a ceph.conf of another machine", steps: []step{with("ceph.conf", "[global]\nfoo = bar\n")}, want: "True/CredentialsInvalid", fragments: []string{"ceph.conf"}},
		"EmptyKeyring":  {reason: "names the entry", steps: []step{with("keyring", " \n")}, want: "True/CredentialsInvalid", fragments: []string{"keyring is empty"}},
		"BrokenKeyring": {reason: "names the entry", steps: []step{with("keyring", "{}")}, want: "True/CredentialsInvalid", fragments: []string{"keyring"}},
		"TruncatedKey": {
			reason: "librados would print it",
			steps: []step{func(f *fixture) {
				data := f.admin()
				data["keyring"] = data["keyring"][:len(data["keyring"])-9]
				f.secret(data)
				f.sync()
			}},
			want: "True/CredentialsInvalid", fragments: []string{"keyring"},
		},
		"UnresolvableMons": {
			reason: "the resolver's own text changes each time",
			steps:  []step{with("ceph.conf", "[global]\nmon_host = mon.example.com\n")},
			want:   "True/CephUnreachable", fragments: []string{`key "ceph.conf": none of the mons' host names can be resolved`},
		},
		"WrongKey": {
			reason: "the user got another key",
			steps: []step{func(f *fixture) {
				f.secret(f.admin())
				f.ceph.AddUser("admin")
				f.sync()
			}},
			want: "True/AccessDenied", fragments: []string{"client.admin", "`ceph auth get client.admin`"},
		},
		"NoCaps": {
			reason: "a user that may connect and no more",
			steps: []step{func(f *fixture) {
				f.ceph.AddUser("weak", "mon dump")
				f.secret(map[string][]byte{"ceph.conf": f.ceph.Conf(), "keyring": f.ceph.Keyring("weak")})
				f.sync()
			}},
			want: "True/AccessDenied", fragments: []string{"client.weak", "'allow r'"},
		},
		"Unreachable": {
			reason: "nobody answers",
			steps:  []step{func(f *fixture) { f.ceph.Stop() }, connected},
			want:   "True/CephUnreachable", fragments: []string{"10.20.0.2:3300"},
		},
		"DeclaredOtherCluster": {
			reason: "Ceph itself takes a wrong fsid",
			steps:  []step{with("ceph.conf", "[global]\nfsid = "+otherFSID+"\nmon_host = 10.20.0.2\n")},
			want:   "True/WrongCluster", fragments: []string{"declares the fsid " + otherFSID, "Ceph cluster " + cephtest.FSID},
		},
		"OtherClusterThanBefore": {
			reason: "the volumes are elsewhere",
			steps:  []step{func(f *fixture) { f.recorded(elsewhere) }, connected},
			want:   "True/WrongCluster", fragments: []string{"volumes of this cluster are in " + otherFSID, "spec.driverConfig.ceph.cluster",
				"those in " + otherFSID + " are then neither mounted anew, expanded nor deleted"},
		},
		"OtherClusterWithConsent": {
			reason: "naming the new fsid moves new volumes there",
			steps: []step{func(f *fixture) {
				f.recorded(strings.Replace(elsewhere, `"epoch":1`, `"epoch":9`, 1))
				f.named = cephtest.FSID
			}, connected},
			want: "False/AsExpected", published: cephtest.FSID, alive: true,
		},
		"ConsentLater": {
			reason: "the consent is seen at once",
			steps: []step{func(f *fixture) { f.recorded(elsewhere) }, connected,
				func(f *fixture) { f.named = cephtest.FSID; f.sync() }},
			want: "False/AsExpected", published: cephtest.FSID, alive: true,
		},
		"NamedClusterUnknown": {
			reason: "the field names a Ceph cluster that nobody declared",
			steps:  []step{func(f *fixture) { f.named = otherFSID }, connected},
			want:   "True/WrongCluster", fragments: []string{"spec.driverConfig.ceph.cluster of ClusterCSIDriver rbd.csi.ceph.com is " + otherFSID},
		},
		"NamedClusterWrongLater": {
			reason: "the last good configuration goes on",
			steps:  []step{connected, func(f *fixture) { f.named = otherFSID; f.pass(pollInterval) }},
			want:   "True/WrongCluster", published: cephtest.FSID, alive: true,
		},
		"BecomesOtherCluster": {
			reason: "the same mons and key, but a new Ceph cluster: nothing is published of it",
			steps:  []step{connected, func(f *fixture) { f.ceph.SetFSID(otherFSID); f.pass(pollInterval) }},
			want:   "True/WrongCluster", fragments: []string{otherFSID}, published: cephtest.FSID,
		},
		"StateUnreadable": {
			reason: "nobody knows which Ceph cluster was in use",
			steps:  []step{func(f *fixture) { f.recorded("{") }, connected},
			want:   "True/SyncError", fragments: []string{"ceph-rbd-csi-driver-state", `"cluster"`},
		},
		"EpochBack": {
			reason: "the monmap of a backup leads to mons that are gone",
			steps:  []step{func(f *fixture) { f.recorded(strings.Replace(record, `"epoch":1`, `"epoch":9`, 1)) }, connected},
			want:   "True/SyncError", fragments: []string{"epoch 9 was seen", `delete key "cluster" of ConfigMap openshift-cluster-csi-drivers/ceph-rbd-csi-driver-state`},
		},
		"EpochBackDeleted": {
			reason: "the way back that the message gives",
			steps: []step{func(f *fixture) { f.recorded(strings.Replace(record, `"epoch":1`, `"epoch":9`, 1)) }, connected,
				func(f *fixture) { f.recorded(""); f.pass(redialInterval) }},
			want: "False/AsExpected", published: cephtest.FSID, alive: true,
		},
		"NoCR": {
			reason: "nothing to report to, so nothing is done",
			steps:  []step{func(f *fixture) { f.operator.gone = true }, connected},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			for _, s := range tc.steps {
				s(f)
			}
			f.wantCondition(tc.reason, tc.want, tc.fragments...)
			published, _ := f.conn.Cluster.Get()
			if published.FSID != tc.published || f.alive() != tc.alive {
				t.Errorf("%s: published %q, alive %t; want %q, %t", tc.reason, published.FSID, f.alive(), tc.published, tc.alive)
			}
			f.wantClosed(tc.reason)
			before := f.degraded()
			f.pass(time.Minute)
			if after := f.degraded(); after != before {
				t.Errorf("%s: after a minute without change the condition is %v, was %v", tc.reason, after, before)
			}
		})
	}
}

func (f *fixture) wantCondition(reason, want string, fragments ...string) {
	f.t.Helper()
	got := f.degraded()
	if text := string(got.Status) + "/" + got.Reason; text != want && (want != "" || text != "/") {
		f.t.Errorf("%s: condition %s %q, want %s", reason, text, got.Message, want)
	}
	if got.Status == operatorv1.ConditionTrue && got.Reason == condition.AsExpected {
		f.t.Errorf("%s: Degraded as expected", reason)
	}
	missing := slices.DeleteFunc(slices.Clone(fragments), func(s string) bool { return strings.Contains(got.Message, s) })
	if len(missing) > 0 {
		f.t.Errorf("%s: message %q lacks %q", reason, got.Message, missing)
	}
}
