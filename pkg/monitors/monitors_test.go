package monitors

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

var errBoom = errors.New("boom")

// The Secret follows the monmap and the placement, and is written on changes only.
func TestFollowsTheCluster(t *testing.T) {
	f, c := newFixture(t), cephtest.New()
	if secret := f.sync(); secret != nil {
		t.Fatalf("a Secret before any Ceph cluster was known: %s", secret.Data)
	}
	f.publish(c)
	f.placement.Set(ceph.Placement{FSID: "another", Filesystem: "fs", SubvolumeGroup: "theirs"})
	if secret := f.sync(); secret != nil {
		t.Fatalf("before the group is known, volumes would be made in another one: %s", secret.Data)
	}
	f.recorded(map[string]string{"placement": `{"fsid":"` + cephtest.FSID + `","subvolumeGroup":"infra","journalNamespace":"journal"}`})
	f.want("group and journal are enough", f.sync(), cephtest.FSID, "10.20.0.2:6789", `"subvolumeGroup": "infra"`, `"radosNamespace": "journal"`)
	c.AddMon("b")
	f.publish(c)
	f.want("a new mon", f.sync(), "10.20.0.2:6789", "10.20.0.3:6789")
	f.placement.Set(ceph.Placement{FSID: cephtest.FSID, Filesystem: "fs", SubvolumeGroup: "csi"})
	f.want("the group", f.sync(), `"subvolumeGroup": "csi"`, "10.20.0.3:6789")

	events := len(f.recorder.Events())
	f.kube.ClearActions()
	if err := f.controller.Sync(context.Background(), factory.NewSyncContext("test", f.recorder)); err != nil {
		t.Fatal(err)
	}
	if n := len(f.kube.Actions()); n != 0 || len(f.recorder.Events()) != events {
		t.Errorf("a sync without change: %d requests, %d events", n, len(f.recorder.Events())-events)
	}
}

func TestEditsAreUndone(t *testing.T) {
	tests := map[string]struct {
		reason string
		edit   func(*corev1.Secret)
	}{
		"Content": {"other mons", func(s *corev1.Secret) {
			s.Data["config.json"] = []byte(strings.ReplaceAll(string(s.Data["config.json"]), "10.20", "1.1"))
		}},
		"Cleared": {"nothing is lost", func(s *corev1.Secret) { s.Data["config.json"] = nil }},
		"Removed": {"the file would be gone", func(s *corev1.Secret) { s.Data = nil }},
		"Label":   {"the mark says whose it is", func(s *corev1.Secret) { s.Labels = nil }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.publish(cephtest.New())
			f.sync()
			f.edit(tc.edit)
			f.want(tc.reason, f.sync(), cephtest.FSID, `"10.20.0.2:6789"`)
		})
	}
}

// TestOtherFilesStay: ceph-csi looks there for cluster-mapping.json, which maps pools after a failover.
func TestOtherFilesStay(t *testing.T) {
	f := newFixture(t)
	f.publish(cephtest.New())
	f.sync()
	f.edit(func(s *corev1.Secret) { s.Data["cluster-mapping.json"] = []byte("[]") })
	f.kube.ClearActions()
	if f.sync(); slices.ContainsFunc(f.kube.Actions(), func(a clienttesting.Action) bool { return a.GetVerb() == "update" }) {
		t.Error("a Secret with another file is written")
	}
	f.edit(func(s *corev1.Secret) { s.Data["config.json"] = nil })
	if got := f.sync().Data["cluster-mapping.json"]; string(got) != "[]" {
		t.Errorf("after an edit cluster-mapping.json is %q", got)
	}
}

// TestUnreadableIsNotEmpty: what a person has half edited may have entries that nobody else knows.
func TestUnreadableIsNotEmpty(t *testing.T) {
	for _, damaged := range []string{"{", `[{"clusterID":"x"`, "[7]", "[{\"clusterID\":\"\xff\"}]", `[{"clusterID":"x","monitors":{}}]`, "AQ==", `{"clusterID":"x"}`, "[]]", `["x"]`, "\x00"} {
		f := newFixture(t)
		f.publish(cephtest.New())
		f.edit(func(s *corev1.Secret) { s.Data["config.json"] = []byte(damaged) })
		for range 2 {
			if got := f.sync(); string(got.Data["config.json"]) != damaged {
				t.Fatalf("%q was overwritten:\n%s", damaged, got.Data["config.json"])
			}
		}
		c := f.condition()
		if c.Status != operatorv1.ConditionTrue || c.Reason != condition.ConfigUnreadable {
			t.Errorf("%q: condition %+v", damaged, c)
		}
		for _, part := range []string{"config.json", "openshift-cluster-csi-drivers/ceph-cephfs-csi-config", "oc -n openshift-cluster-csi-drivers set data secret/ceph-cephfs-csi-config --from-file=config.json", "oc -n openshift-cluster-csi-drivers delete secret ceph-cephfs-csi-config"} {
			if !strings.Contains(c.Message, part) {
				t.Errorf("%q: message %q lacks %q", damaged, c.Message, part)
			}
		}
		f.edit(func(s *corev1.Secret) {
			s.Data["config.json"] = []byte(`[{"clusterID":"x","monitors":["1.1.1.1:1"]}]`)
		})
		f.want("mended", f.sync(), cephtest.FSID, `{"clusterID":"x","monitors":["1.1.1.1:1"]}`)
	}
}

// TestMembersOfAPerson: what a person adds to the operator's own entry stays, with a new process too.
func TestMembersOfAPerson(t *testing.T) {
	f := newFixture(t)
	f.publish(cephtest.New())
	f.settings.KernelMountOptions = "ms_mode=crc"
	f.edit(func(s *corev1.Secret) {
		s.Data["config.json"] = []byte(strings.Replace(string(s.Data["config.json"]), `"cephFS": {`, `"rbd": {"radosNamespace":"n"}, "cephFS": {"radosNamespace":"j",`, 1))
	})
	f.want("kept", f.sync(), `{"radosNamespace":"n"}`, `"radosNamespace":"j"`, "ms_mode=crc")
	f.settings.KernelMountOptions = ""
	secret := f.sync()
	f.want("kept", secret, `{"radosNamespace":"n"}`, `"radosNamespace": "j"`)
	if strings.Contains(string(secret.Data["config.json"]), "kernelMountOptions") {
		t.Errorf("the setting is gone:\n%s", secret.Data["config.json"])
	}
}

// While Ceph is silent after a restart, the record is enough to make the Secret again.
func TestFromTheRecord(t *testing.T) {
	f := newFixture(t)
	f.recorded(map[string]string{
		"version":   "1",
		"cluster":   `{"fsid":"f1","epoch":3,"monitors":["10.0.0.1:6789"],"former":[{"fsid":"f0","monitors":["10.0.0.9:6789"]}]}`,
		"placement": `{"fsid":"f1","filesystem":"fs","subvolumeGroup":"csi"}`,
	})
	f.want("recorded", f.sync(), `"f1"`, `"10.0.0.1:6789"`, `"csi"`, `"f0"`, `"10.0.0.9:6789"`)
	f.recorded(map[string]string{"cluster": "{", "placement": "{"})
	f.want("an unreadable record takes nothing away", f.sync(), `"f1"`, `"10.0.0.1:6789"`)
	f.publish(cephtest.New())
	f.want("what Ceph says comes first", f.sync(), cephtest.FSID, `"f1"`)
}

// The consent to move was given: volumes of the recorded Ceph cluster still need its mons.
func TestMoved(t *testing.T) {
	f := newFixture(t)
	f.recorded(map[string]string{
		"cluster":   `{"fsid":"f1","epoch":3,"monitors":["10.0.0.1:6789"]}`,
		"placement": `{"fsid":"f1","filesystem":"fs","subvolumeGroup":"old"}`,
	})
	f.publish(cephtest.New())
	secret := f.sync()
	f.want("both are there", secret, cephtest.FSID, `"10.20.0.2:6789"`, `"f1"`, `"10.0.0.1:6789"`)
	if got := string(secret.Data["config.json"]); strings.Contains(got, "old") {
		t.Errorf("the recorded group of another Ceph cluster was taken:\n%s", got)
	}
}

func TestUnmanaged(t *testing.T) {
	for managed, message := range map[operatorv1.ManagementState]string{
		operatorv1.Unmanaged: "ceph-cephfs-csi-config may age",
		operatorv1.Removed:   "", // The Secret has gone.
	} {
		f := newFixture(t)
		f.publish(cephtest.New())
		f.spec.ManagementState = managed
		if secret := f.sync(); secret != nil {
			t.Errorf("%s: a Secret was written", managed)
		}
		c := f.condition()
		if c.Status != operatorv1.ConditionFalse || !strings.Contains(c.Message, message) || message == "" && c.Message != "" {
			t.Errorf("%s: condition %v, want one that says %q", managed, c, message)
		}
	}
}

func TestWriteFails(t *testing.T) {
	conflict := apierrors.NewConflict(corev1.Resource("secrets"), driver.CephFS.ConfigSecret(), errBoom)
	tests := map[string]struct {
		reason string
		err    error
		want   operatorv1.ConditionStatus
	}{
		"Refused":  {"a person has to know", errBoom, operatorv1.ConditionTrue},
		"Conflict": {"the next try mends it; the condition must not flap", conflict, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.publish(cephtest.New())
			f.kube.PrependReactor("create", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, tc.err })
			err := f.controller.Sync(context.Background(), factory.NewSyncContext("test", f.recorder))
			if !errors.Is(err, tc.err) {
				t.Errorf("%s: error %v, want %v", tc.reason, err, tc.err)
			}
			if got := f.condition(); got.Status != tc.want {
				t.Errorf("%s: condition %v, want status %q", tc.reason, got, tc.want)
			}
		})
	}
}
