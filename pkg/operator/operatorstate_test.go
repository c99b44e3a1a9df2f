package operator

import (
	"testing"

	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// decoding counts how often the ClusterCSIDriver is decoded.
type decoding struct {
	finalizable
	times int
}

func (d *decoding) GetOperatorState() (*operatorv1.OperatorSpec, *operatorv1.OperatorStatus, string, error) {
	d.times++
	return d.finalizable.GetOperatorState()
}

func TestDecodesOnce(t *testing.T) {
	inner := &decoding{finalizable: finalizable{conditiontest.New(operatorv1.Managed)}}
	client := newMaybeWithout(inner, driver.RBD, nil, condition.NewBoard(nil, nil))
	for i, step := range []struct {
		reason, seen string
		times        int
	}{
		{"nothing is known", "1", 1},
		{"it is the same", "1", 1},
		{"it has changed", "2", 2},
		{"there is none in the cache", "", 3},
		{"nor now", "", 4},
	} {
		client.seen = func() string { return step.seen }
		spec, _, _, err := client.GetOperatorState()
		if err != nil || spec.ManagementState != operatorv1.Managed || inner.times != step.times {
			t.Errorf("step %d, %s: %+v, %v, decoded %d times", i, step.reason, spec, err, inner.times)
		}
		spec.ManagementState = operatorv1.Unmanaged // what a caller does to its copy
	}
}
