package clusterstorage

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/openshift/library-go/pkg/controller/factory"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
)

// TestConflictThatLasts is tried again, but not without a pause: a webhook may answer so for ever.
func TestConflictThatLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sync := starter{}.gated(controller{always: true, sync: func(context.Context, factory.SyncContext) error {
			return apierrors.NewConflict(corev1.Resource("secrets"), "a", errors.New("refused"))
		}})
		if syncs := conditiontest.SyncsInAMinute(t, sync); syncs > 60 {
			t.Errorf("%d syncs a minute", syncs)
		}
	})
}
