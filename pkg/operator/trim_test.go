package operator

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

func TestServedVersions(t *testing.T) {
	tests := map[string]struct {
		reason  string
		deleted bool
		want    []string
	}{
		"Served":      {reason: "versions that are stored only cannot be used", want: []string{"v1"}},
		"Terminating": {reason: "the API server refuses new objects: nothing of the kind is to be made again", deleted: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			crd := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"versions": []any{
				map[string]any{"name": "v1beta1", "served": false, "schema": map[string]any{}},
				map[string]any{"name": "v1", "served": true, "schema": map[string]any{}},
			}}}}
			if tc.deleted {
				now := metav1.NewTime(time.Unix(1, 0))
				crd.SetDeletionTimestamp(&now)
			}
			trimmed, err := trimCRD(crd)
			if err != nil {
				t.Fatal(err)
			}
			for _, object := range []any{crd, trimmed} {
				if got := servedVersions(object); !slices.Equal(got, tc.want) {
					t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
				}
			}
		})
	}
}

// TestTrimmedVolumesTellTheirTags: what pkg/tags reads of a volume is kept, what is the same for
// all of a class is shared, and nothing else is there.
func TestTrimmedVolumesTellTheirTags(t *testing.T) {
	now := metav1.NewTime(time.Unix(1, 0))
	attributes := map[string]string{"staticVolume": "true", "rootPath": "/volumes/g/s/u", "backingSnapshot": "true", "imageName": "i"}
	pv := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pv", UID: "u", DeletionTimestamp: &now, Finalizers: []string{"f"}},
		Spec: corev1.PersistentVolumeSpec{
			ClaimRef:                      &corev1.ObjectReference{Namespace: "n", Name: "c"},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver: driver.CephFS.Name, VolumeHandle: "h", VolumeAttributes: attributes,
				ControllerPublishSecretRef: &corev1.SecretReference{Namespace: driver.Namespace, Name: "s"},
				ControllerExpandSecretRef:  &corev1.SecretReference{Namespace: "tenant", Name: "s"},
			}},
		},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound},
	}
	trimmer := newVolumeTrimmer(driver.CephFS, cache.NewStore(cache.MetaNamespaceKeyFunc))
	driver.SetDeletionSecret(pv, &corev1.SecretReference{Namespace: "tenant", Name: "s"})
	want := pv.DeepCopy()
	pv.Annotations["example.com/mine"] = "yes"
	object, err := trimmer.trim(pv)
	if err != nil {
		t.Fatal(err)
	}
	if object != pv {
		t.Error("a copy is kept, among those of its size that go")
	}
	want.Finalizers, want.Spec.ClaimRef, want.Spec.CSI.ControllerPublishSecretRef = nil, nil, nil
	delete(want.Spec.CSI.VolumeAttributes, "imageName")
	want.Spec.CSI.VolumeAttributes[driver.SubvolumePathAttribute] = "/volumes/g"
	if diff := cmp.Diff(want, object); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, path := range []string{"/volumes/csi/a/1", "/volumes/csi/b/2"} {
		dynamic := want.DeepCopy()
		dynamic.Spec.CSI.VolumeAttributes = map[string]string{driver.SubvolumePathAttribute: path, "subvolumeName": path}
		if _, err := trimmer.trim(dynamic); err != nil {
			t.Fatal(err)
		}
	}
	if len(trimmer.shared) != 2 {
		t.Errorf("volumes of a class share nothing: %v", trimmer.shared)
	}
}

// TestListedAgain has a volume that is listed again as it was stay where it is, and no other; a cluster that was restored
// may have another content under the same version.
func TestListedAgain(t *testing.T) {
	volume := func(change func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
		pv := &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: "pv", UID: "u", ResourceVersion: "7", Labels: map[string]string{"a": "b"}},
			Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver: driver.RBD.Name, VolumeHandle: "h", VolumeAttributes: map[string]string{"pool": "p", "imageName": "i"},
			}}},
		}
		change(pv)
		return pv
	}
	for name, tc := range map[string]struct {
		change func(*corev1.PersistentVolume)
		stays  bool
	}{
		"AsItWas":     {func(*corev1.PersistentVolume) {}, true},
		"NotKept":     {func(pv *corev1.PersistentVolume) { pv.Labels = nil }, true},
		"Changed":     {func(pv *corev1.PersistentVolume) { pv.ResourceVersion = "8" }, false},
		"Restored":    {func(pv *corev1.PersistentVolume) { pv.Spec.CSI.VolumeHandle = "other" }, false},
		"MadeAnew":    {func(pv *corev1.PersistentVolume) { pv.UID = "v" }, false},
		"NotThereYet": {func(pv *corev1.PersistentVolume) { pv.Name = "other" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			store := cache.NewStore(cache.MetaNamespaceKeyFunc)
			trimmer := newVolumeTrimmer(driver.RBD, store)
			trim := func(obj any) any {
				out, err := trimmer.trim(obj)
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			held := trim(volume(func(*corev1.PersistentVolume) {}))
			if err := store.Add(held); err != nil {
				t.Fatal(err)
			}
			before := held.(*corev1.PersistentVolume).DeepCopy()
			listed := trim(volume(tc.change))
			if (listed == held) != tc.stays {
				t.Errorf("it stays: %t", listed == held)
			}
			// A list passes here twice.
			if again := trim(listed); again != listed {
				t.Errorf("another one the second time: %v", again)
			}
			if diff := cmp.Diff(before, held); diff != "" {
				t.Errorf("what is held has changed: %s", diff)
			}
		})
	}
}

func TestTrimmedVolumesTellTheirPlace(t *testing.T) {
	const handle = "0001-0024-4d95e4d6-3a1f-4fcb-8b0a-0b6d1f0c2a11-0000000000000006-6e696bba-064f-11ec-a251-0242ac110002"
	csi := func(name string) corev1.PersistentVolumeSource {
		return corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: name, VolumeHandle: handle, VolumeAttributes: map[string]string{
			"clusterID": "f", "pool": "a", "dataPool": "d", "journalPool": "j", "radosNamespace": "n", "fsName": "a", "imageName": "i",
			"subvolumePath": "/volumes/csi/v/1",
		}}}
	}
	sources := map[string]corev1.PersistentVolumeSource{
		"RBD":    csi(driver.RBD.Name),
		"CephFS": csi(driver.CephFS.Name),
		"Rook":   csi("rook-ceph.rbd.csi.ceph.com"),
		"ODF":    csi("openshift-storage.cephfs.csi.ceph.com"),
		"Helm":   csi("team.example.com"),
		"InTree": {RBD: &corev1.RBDPersistentVolumeSource{CephMonitors: []string{"10.0.0.1"}, RBDPool: "p", RBDImage: "i"}},
		"Files":  {CephFS: &corev1.CephFSPersistentVolumeSource{Monitors: []string{"10.0.0.1"}}},
		"Flex":   {FlexVolume: &corev1.FlexPersistentVolumeSource{Driver: "ceph.rook.io/rook", Options: map[string]string{"pool": "p", "image": "i"}}},
	}
	for name, source := range sources {
		t.Run(name, func(t *testing.T) {
			for _, d := range driver.All {
				full := &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: source}}
				trimmer := newVolumeTrimmer(d, cache.NewStore(cache.MetaNamespaceKeyFunc))
				var trimmed []*corev1.PersistentVolume
				for range 2 {
					object, err := trimmer.trim(full.DeepCopy())
					if err != nil {
						t.Fatal(err)
					}
					trimmed = append(trimmed, object.(*corev1.PersistentVolume))
				}
				want := usage.Of(d, nil, nil, []*corev1.PersistentVolume{full, full})
				if diff := cmp.Diff(want, usage.Of(d, nil, nil, trimmed)); diff != "" {
					t.Errorf("%s (-full +trimmed):\n%s", d.Kind, diff)
				}
				if len(trimmer.legacy) > 1 || trimmed[0].Spec.RBD != trimmed[1].Spec.RBD {
					t.Errorf("%s: what volumes have in common is kept more than once", d.Kind)
				}
			}
		})
	}
}

// TestTrimmedVolumesTellTheirProtocol: by which addresses the mons are listed depends on the options that a volume was made with.
func TestTrimmedVolumesTellTheirProtocol(t *testing.T) {
	for _, d := range driver.All {
		full := &corev1.PersistentVolume{}
		full.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: d.Name, VolumeAttributes: map[string]string{"clusterID": "f", d.KernelOptions: "ms_mode=secure"}}
		object, err := newVolumeTrimmer(d, cache.NewStore(cache.MetaNamespaceKeyFunc)).trim(full)
		if err != nil {
			t.Fatal(err)
		}
		if options := d.Storage.KernelOptions(object.(*corev1.PersistentVolume).Spec.CSI.VolumeAttributes, driver.Settings{}); !driver.Msgr2(options) {
			t.Errorf("%s: %q is left of the options", d.Kind, options)
		}
	}
}
