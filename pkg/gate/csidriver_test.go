package gate

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestCSIDriverIsOurs(t *testing.T) {
	tests := map[string]struct {
		reason  string
		objects []runtime.Object
		want    bool
	}{
		"None":       {reason: "free to create", want: true},
		"Annotation": {reason: "made from our asset", objects: []runtime.Object{csiDriver(map[string]string{"csi.openshift.io/managed": ""})}, want: true},
		"Hash":       {reason: "applied by library-go", objects: []runtime.Object{csiDriver(map[string]string{"operator.openshift.io/spec-hash": "x"})}, want: true},
		"Foreign":    {reason: "never touched", objects: []runtime.Object{csiDriver(nil)}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, driver.RBD, conditiontest.Missing(), tc.objects...)
			if got := CSIDriverIsOurs(r.config.CSIDrivers.Lister(), driver.RBD)(); got != tc.want {
				t.Errorf("%s: got %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}
