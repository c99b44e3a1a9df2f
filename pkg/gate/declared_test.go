package gate

import (
	"errors"
	"testing"

	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// Rook's objects are not looked at here: the setting declares them.
func TestRookDeclares(t *testing.T) {
	r := newRig(t, driver.RBD, conditiontest.New(operatorv1.Managed))
	r.settings.RookNamespace = "rook-ceph"
	r.wrong = errors.New("invalid")
	if r.sync(t).Open {
		t.Error("open for a setting that is invalid")
	}
	r.wrong = nil
	if !r.sync(t).Open {
		t.Error("closed, although Rook's Ceph cluster is to be used")
	}
}
