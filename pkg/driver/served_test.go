package driver

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestNamed(t *testing.T) {
	for _, d := range All {
		if got, ok := Named(d.Name); !ok || got.Kind != d.Kind {
			t.Errorf("%s is %s, %t", d.Name, got.Kind, ok)
		}
	}
	if got, ok := Named("else.csi.example.com"); ok {
		t.Errorf("somebody else's driver is %s", got.Kind)
	}
}

func TestServes(t *testing.T) {
	volume := &corev1.PersistentVolume{}
	if RBD.Serves(volume) {
		t.Error("a volume without CSI is served")
	}
	volume.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: RBD.Name}
	if !RBD.Serves(volume) || CephFS.Serves(volume) {
		t.Error("an image is not served by RBD's driver alone")
	}
}
