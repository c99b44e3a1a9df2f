package tags

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestVolumesThatAreLeftAlone(t *testing.T) {
	now := metav1.Now()
	tests := map[string]struct {
		reason string
		edit   func(*corev1.PersistentVolume)
		setUp  func(*rig)
	}{
		"Deleted":  {reason: "it is going", edit: func(pv *corev1.PersistentVolume) { pv.DeletionTimestamp, pv.Finalizers = &now, []string{"x/y"} }},
		"Released": {reason: "its volume is being deleted", edit: func(pv *corev1.PersistentVolume) { pv.Status.Phase = corev1.VolumeReleased }},
		"Another":  {reason: "it is of another driver", edit: func(pv *corev1.PersistentVolume) { pv.Spec.CSI.Driver = "ebs.csi.aws.com" }},
		"Elsewhere": {reason: "its Ceph cluster is not declared", edit: func(pv *corev1.PersistentVolume) {
			pv.Spec.CSI.VolumeHandle = "0001-0009-rook-ceph-0000000000000001-" + uuid(1)
		}},
		"Unmanaged": {reason: "nothing is to be written", setUp: func(r *rig) { r.operator.SetState(operatorv1.Unmanaged) }},
		"Silent":    {reason: "Ceph is not connected", setUp: func(r *rig) { r.connected = false }},
		"Outage":    {reason: "Ceph does not answer", setUp: func(r *rig) { r.ceph.Stop() }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, f fixture, r *rig) {
				f.add(r, 1)
				pv := provisioned(f.driver, 1, 1)
				if tc.edit != nil {
					tc.edit(pv)
				}
				if tc.setUp != nil {
					tc.setUp(r)
				}
				r.add(t, pv)
				r.later(t, time.Minute)
				r.later(t, time.Minute)
				if len(f.get(r, 1)) > 0 || r.writes() > 0 {
					t.Errorf("%s: it is tagged", tc.reason)
				}
				if got, _ := r.controller.Report.Get(); got[cephtest.FSID] != (Counts{}) {
					t.Errorf("%s: report %+v", tc.reason, got)
				}
			})
		})
	}
}

// TestLateCache: what was written while the cache still had what is true again is mended once the cache has it.
func TestLateCache(t *testing.T) {
	each(t, func(t *testing.T, f fixture, r *rig) {
		f.add(r, 1)
		r.add(t, provisioned(f.driver, 1, 1))
		r.later(t, time.Minute)
		r.expect(t, operatorv1.ConditionTrue, "AsExpected")
		bad := applyoperatorv1.OperatorStatus().WithConditions(condition.New(condition.VolumesTagged, operatorv1.ConditionFalse, condition.SyncError, "of a moment ago"))
		if err := r.operator.ApplyOperatorStatus(t.Context(), r.config.Driver.OperatorName()+"-"+controllerName, bad); err != nil {
			t.Fatal(err)
		}
		r.sync(t)
		r.expect(t, operatorv1.ConditionTrue, "AsExpected")
	})
}

func TestAfterAnOutage(t *testing.T) {
	each(t, func(t *testing.T, f fixture, r *rig) {
		for i := range 5 {
			f.add(r, i)
			r.add(t, provisioned(f.driver, i, 1))
		}
		r.ceph.Stop()
		r.later(t, 0)
		if r.operator.Condition("VolumesTagged") != nil {
			t.Error("something is said of volumes that nobody has seen")
		}
		r.ceph.Start()
		r.later(t, time.Minute)
		for i := range 5 {
			f.expect(t, r, i, own(i))
		}
		r.expect(t, operatorv1.ConditionTrue, "AsExpected")
	})
}

func TestRate(t *testing.T) {
	each(t, func(t *testing.T, f fixture, r *rig) {
		for i := range f.driver.TagsPerSecond + 1 {
			f.add(r, i)
			r.add(t, provisioned(f.driver, i, 1))
		}
		for range 10 {
			r.sync(t)
		}
		if r.client.reads != f.driver.TagsPerSecond {
			t.Errorf("%d volumes within a second", r.client.reads)
		}
		if _, told := r.controller.Report.Get(); told {
			t.Error("the report comes before the end")
		}
		r.later(t, step)
		r.expectCounts(t, Counts{Tagged: f.driver.TagsPerSecond + 1})
	})
}

func TestProblems(t *testing.T) {
	t.Run("Missing", func(t *testing.T) {
		each(t, func(t *testing.T, f fixture, r *rig) {
			for i := range 5 {
				r.add(t, provisioned(f.driver, i, 1))
			}
			r.add(t, provisioned(f.driver, 9, 77))
			r.later(t, 0)
			r.expect(t, operatorv1.ConditionFalse, "VolumeMissing", "PersistentVolumes pvc-0, pvc-1, pvc-2 and 3 more in Ceph cluster", "csi-vol-"+uuid(0))
			r.expectCounts(t, Counts{Missing: 6})
			f.add(r, 0)
			r.later(t, time.Hour)
			f.expect(t, r, 0, own(0))
		})
	})
	denials := map[string][]string{"RBD": {"change image header"}, "CephFS": {"fs subvolume metadata set"}}
	for name, f := range fixtures {
		t.Run("Denied"+name, func(t *testing.T) {
			r := newRig(t, f.driver, denials[name]...)
			f.add(r, 1)
			r.add(t, provisioned(f.driver, 1, 1))
			r.later(t, 0)
			r.expect(t, operatorv1.ConditionFalse, "AccessDenied", "PersistentVolume pvc-1 in Ceph cluster", "client.u", denials[name][0])
			r.expectCounts(t, Counts{Untagged: 1})
		})
	}
	t.Run("Cloning", func(t *testing.T) {
		f := fixtures["CephFS"]
		r := newRig(t, f.driver)
		f.add(r, 1)
		r.ceph.SetCloning(subvolumeOf(1), true)
		r.add(t, provisioned(f.driver, 1, 1))
		r.later(t, 0)
		r.expect(t, operatorv1.ConditionTrue, "AsExpected")
		r.expectCounts(t, Counts{Untagged: 1})
		r.ceph.SetCloning(subvolumeOf(1), false)
		r.later(t, 2*time.Minute)
		f.expect(t, r, 1, own(1))
		r.ceph.SetActive("myfs", false)
		f.add(r, 2)
		r.add(t, provisioned(f.driver, 2, 1))
		r.news()
		r.later(t, time.Minute)
		f.expect(t, r, 2, map[string]string{})
		r.ceph.SetActive("myfs", true)
		r.later(t, 2*time.Minute)
		f.expect(t, r, 2, own(2))
	})
}

// failover has a mgr that has taken over, and has not loaded its modules yet.
type failover struct{ driver.TagStore }

func (failover) SubvolumeMetadata(_ context.Context, _ string, places []ceph.SubvolumePlace) ([]ceph.SubvolumeMetadata, error) {
	out := make([]ceph.SubvolumeMetadata, len(places))
	for i := range out {
		out[i].Err = &ceph.CommandError{Command: "fs subvolume metadata ls", Errno: -int(syscall.EOPNOTSUPP), Status: "Module 'volumes' is not enabled/loaded"}
	}
	return out, nil
}

// TestModuleIsLoading: seconds pass without a word. What lasts is told: a Ceph before 16.2.11 has no command for tags of
// subvolumes, and is told the same way.
func TestModuleIsLoading(t *testing.T) {
	f := fixtures["CephFS"]
	r := newRig(t, f.driver)
	f.add(r, 1)
	r.add(t, provisioned(f.driver, 1, 1))
	whole := r.client.TagStore
	r.client.TagStore = failover{whole}
	r.later(t, 0)
	r.expect(t, operatorv1.ConditionTrue, "AsExpected")
	r.expectCounts(t, Counts{Untagged: 1})
	for begin := r.clock.Now(); r.clock.Now().Sub(begin) < patience-2*time.Minute; {
		r.later(t, again[unready])
	}
	r.expect(t, operatorv1.ConditionTrue, "AsExpected")
	r.later(t, 2*time.Minute)
	r.expect(t, operatorv1.ConditionFalse, condition.SyncError, "PersistentVolume pvc-1", "is not enabled/loaded")
	r.expectCounts(t, Counts{Untagged: 1})
	r.client.TagStore = whole
	r.later(t, again[lasting])
	r.expect(t, operatorv1.ConditionTrue, "AsExpected")
	f.expect(t, r, 1, own(1))
}

// dead has OSDs that answer nobody.
type dead struct{ driver.TagStore }

func (dead) ImageMetadata(context.Context, ceph.ImagePlace) (ceph.ImageMetadata, error) {
	return ceph.ImageMetadata{}, fmt.Errorf("%w: no OSD answers", ceph.ErrUnheard)
}

// TestUnheard: a user without caps gets no answer, and neither does one whose OSD died a moment ago: that is looked at
// again soon.
func TestUnheard(t *testing.T) {
	f := fixtures["RBD"]
	r := newRig(t, f.driver)
	f.add(r, 1)
	r.add(t, provisioned(f.driver, 1, 1))
	whole := r.client.TagStore
	r.client.TagStore = dead{whole}
	r.later(t, 0)
	r.expect(t, operatorv1.ConditionFalse, "AccessDenied", "PersistentVolume pvc-1 in Ceph cluster", "no OSD answers")
	r.expectCounts(t, Counts{Untagged: 1})
	r.client.TagStore = whole
	r.later(t, 20*time.Second)
	f.expect(t, r, 1, own(1))
	r.expect(t, operatorv1.ConditionTrue, "AsExpected")
}

// stuck has an image whose OSD does not answer, that of which is asked first.
type stuck struct {
	driver.TagStore
	image ceph.ImagePlace
}

func (s *stuck) ImageMetadata(ctx context.Context, at ceph.ImagePlace) (ceph.ImageMetadata, error) {
	if s.image.Name == "" {
		s.image = at
	}
	if at == s.image {
		return ceph.ImageMetadata{}, ceph.ErrTimeout
	}
	return s.TagStore.ImageMetadata(ctx, at)
}

func TestOneSilentOSD(t *testing.T) {
	f := fixtures["RBD"]
	r := newRig(t, f.driver)
	const some = 20
	for i := range some {
		f.add(r, i)
		r.add(t, provisioned(f.driver, i, 1))
	}
	whole := r.client.TagStore
	broken := &stuck{TagStore: whole}
	r.client.TagStore = broken
	for range 5 {
		r.later(t, retryOutage)
	}
	for i := range some {
		want := own(i)
		if imageOf(i) == broken.image {
			want = map[string]string{}
		}
		f.expect(t, r, i, want)
	}
	r.client.TagStore = whole
	r.later(t, 2*time.Minute)
	for i := range some {
		f.expect(t, r, i, own(i))
	}
	r.expectCounts(t, Counts{Tagged: some})
}
