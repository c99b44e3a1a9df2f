package operator

import (
	"slices"
	"strings"
	"testing"

	"github.com/openshift/library-go/pkg/operator/resource/resourceread"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestWithGroupSnapshots(t *testing.T) {
	const upstream, openshift = "registry.k8s.io/sig-storage/csi-snapshotter:", "quay.io/openshift/origin-csi-external-snapshotter@sha256:0"
	gates := map[string]string{
		"true":  "--feature-gates=CSIVolumeGroupSnapshot=true,ReleaseLeaderElectionOnExit=false",
		"false": "--feature-gates=CSIVolumeGroupSnapshot=false,ReleaseLeaderElectionOnExit=true",
	}
	tests := map[string]struct {
		reason    string
		served    string
		image     string
		container string
		want      string
		fails     bool
	}{
		"OpenShift":    {"its CRDs are of the snapshotter's release", "v1", openshift, snapshotterContainer, "true", false},
		"All":          {"CRDs of 8.6 serve all", "v1beta1 v1beta2 v1", openshift, snapshotterContainer, "true", false},
		"NoCRDs":       {"plain snapshots must go on working", "", openshift, snapshotterContainer, "false", false},
		"OldCRDs":      {"plain snapshots must go on working: the snapshotter waits for v1 for ever", "v1beta1 v1beta2", openshift, snapshotterContainer, "false", false},
		"Upstream86":   {"it asks for v1", "v1beta1 v1beta2", upstream + "v8.6.0", snapshotterContainer, "false", false},
		"Upstream84":   {"it asks for v1beta2", "v1beta1 v1beta2", upstream + "v8.4.0", snapshotterContainer, "true", false},
		"Upstream85":   {"the version it asks for is gone", "v1", upstream + "v8.5.1", snapshotterContainer, "false", false},
		"Upstream83":   {"it asks for v1beta1", "v1beta1", upstream + "v8.3.0", snapshotterContainer, "true", false},
		"OpenShift422": {"it asks for v1beta2", "v1beta1 v1beta2", "quay.io/openshift/origin-csi-external-snapshotter:4.22", snapshotterContainer, "true", false},
		"OpenShiftOld": {"the cluster was upgraded, and the image is still the one before: the version it asks for is gone", "v1", "quay.io/openshift/origin-csi-external-snapshotter:4.22", snapshotterContainer, "false", false},
		"OpenShift423": {"it asks for v1", "v1", "quay.io/openshift/origin-csi-external-snapshotter:4.23", snapshotterContainer, "true", false},
		"OpenShift5":   {"it asks for v1", "v1", "quay.io/openshift/origin-csi-external-snapshotter:v5.0.1", snapshotterContainer, "true", false},
		"RedHat":       {"its own name", "v1beta1 v1beta2", "mirror.example.com:5000/openshift4/ose-csi-external-snapshotter-rhel9:v4.21@sha256:0", snapshotterContainer, "true", false},
		"UpstreamNext": {"it asks for v1", "v1", "mirror:5000/sig-storage-csi-snapshotter:v9.0.0@sha256:0", snapshotterContainer, "true", false},
		"NoContainer":  {"a renamed container must not go unnoticed", "v1", openshift, "snapshotter", "true", true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := &appsv1.Deployment{}
			d.Spec.Template.Spec.Containers = []corev1.Container{{Name: tc.container, Image: tc.image, Args: []string{"--feature-gates=" + groupSnapshots}}}
			err := withGroupSnapshots(driver.RBD, func(string) []string { return strings.Fields(tc.served) })(nil, d)
			if (err != nil) != tc.fails {
				t.Errorf("%s: %v", tc.reason, err)
			}
			if got, want := d.Spec.Template.Spec.Containers[0].Args[0], gates[tc.want]; got != want {
				t.Errorf("%s: got %s, want %s", tc.reason, got, want)
			}
		})
	}
}

// TestGroupSnapshotsNeedTheDriver: a class of what the driver does not offer leads to errors later.
func TestGroupSnapshotsNeedTheDriver(t *testing.T) {
	for image, want := range map[string]string{"cephcsi:v3.14.0": groupSnapshots, "cephcsi:v3.12.2": noGroupSnapshots} {
		d := &appsv1.Deployment{}
		d.Spec.Template.Spec.Containers = []corev1.Container{
			{Name: snapshotterContainer, Args: []string{"--feature-gates=" + groupSnapshots}}, {Name: driver.Container, Image: image},
		}
		err := withGroupSnapshots(driver.RBD, func(string) []string { return []string{"v1"} })(nil, d)
		if got := d.Spec.Template.Spec.Containers[0].Args[0]; err != nil || got != "--feature-gates="+want {
			t.Errorf("%s: %v, got %s, want %s", image, err, got, want)
		}
		images := map[string]string{}
		for _, name := range assets.RequiredImages() {
			images[name] = image
		}
		set, err := assets.New(assets.Values{Driver: driver.RBD, Images: images})
		if err != nil {
			t.Fatal(err)
		}
		if got := snapshotManifests(driver.RBD, set); (len(got) == 2) != (want == groupSnapshots) {
			t.Errorf("%s: %v", image, got)
		}
	}
}

// TestPlainSnapshotsElectAsOthers: what cannot release its lease has a short one, and ends in outages that others outlast.
func TestPlainSnapshotsElectAsOthers(t *testing.T) {
	images := map[string]string{}
	for _, name := range assets.RequiredImages() {
		images[name] = "cephcsi:v3.18.0"
	}
	for served, like := range map[string]bool{"": true, "v1": false} {
		set, err := assets.New(assets.Values{Driver: driver.RBD, Images: images})
		if err != nil {
			t.Fatal(err)
		}
		d := resourceread.ReadDeploymentV1OrDie(set.Controller())
		if err := withGroupSnapshots(driver.RBD, func(string) []string { return strings.Fields(served) })(nil, d); err != nil {
			t.Fatal(err)
		}
		election := map[string][]string{}
		for _, c := range d.Spec.Template.Spec.Containers {
			for _, arg := range c.Args {
				if strings.HasPrefix(arg, "--leader-election-") {
					election[c.Name] = append(election[c.Name], arg)
				}
			}
		}
		if same := slices.Equal(election[snapshotterContainer], election["csi-attacher"]); same != like || len(election[snapshotterContainer]) != 4 {
			t.Errorf("with group snapshots %q served: %q, csi-attacher %q", served, election[snapshotterContainer], election["csi-attacher"])
		}
	}
}

// TestGroupSnapshotsNeedBothKinds: the snapshotter has informers of both.
func TestGroupSnapshotsNeedBothKinds(t *testing.T) {
	for _, missing := range groupSnapshotCRDs {
		d := &appsv1.Deployment{}
		d.Spec.Template.Spec.Containers = []corev1.Container{{Name: snapshotterContainer, Args: []string{"--feature-gates=" + groupSnapshots}}}
		err := withGroupSnapshots(driver.RBD, func(crd string) []string {
			if crd == missing {
				return nil
			}
			return []string{"v1"}
		})(nil, d)
		if err != nil || d.Spec.Template.Spec.Containers[0].Args[0] != "--feature-gates="+noGroupSnapshots {
			t.Errorf("without %s: %v, %v", missing, d.Spec.Template.Spec.Containers[0].Args, err)
		}
	}
}
