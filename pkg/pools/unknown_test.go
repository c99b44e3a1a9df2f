package pools

import (
	"errors"
	"testing"

	operatorv1 "github.com/openshift/api/operator/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestUnknownUse: what the operator may not read does not leave pools unprotected in silence.
func TestUnknownUse(t *testing.T) {
	r := newCareRig(t, driver.RBD)
	r.ceph.AddPool(ceph.Pool{Name: "a", Applications: []string{"rbd"}})
	r.unknown = errors.New("connection refused")
	r.sync(t)
	if r.operator.Writes() > 0 {
		t.Error("what will be known in a moment is told")
	}
	r.unknown = apierrors.NewForbidden(schema.GroupResource{Resource: "volumesnapshotcontents"}, "", errors.New("no"))
	r.sync(t)
	r.expect(t, condition.PoolsProtected, operatorv1.ConditionFalse, condition.Forbidden, "volumesnapshotcontents is forbidden")
	r.unknown = nil
	r.use(t, classes(class(driver.RBD, "c", "pool", "a")))
	r.expect(t, condition.PoolsProtected, operatorv1.ConditionTrue, condition.AsExpected)
	r.expectFlagged(t, "once it is known", "a")
}
