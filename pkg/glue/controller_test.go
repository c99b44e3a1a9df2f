package glue

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
)

// TestConflictThatLasts is tried again, but not without a pause: a webhook may answer so for ever.
func TestConflictThatLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sync := starter{}.gated(controller{always: true, sync: func(context.Context, factory.SyncContext) error {
			return apierrors.NewConflict(corev1.Resource("secrets"), "a", errors.New("refused"))
		}})
		syncCtx := factory.NewSyncContext("test", events.NewInMemoryRecorder("test", clock.RealClock{}))
		defer syncCtx.Queue().ShutDown()
		start, syncs := time.Now(), 0
		for ; time.Since(start) < time.Minute; syncs++ {
			if err := sync(t.Context(), syncCtx); err != nil {
				t.Fatal(err)
			}
			key, _ := syncCtx.Queue().Get()
			syncCtx.Queue().Done(key)
			syncCtx.Queue().Forget(key) // As library-go does after a sync without an error.
		}
		if syncs > 60 {
			t.Errorf("%d syncs a minute", syncs)
		}
	})
}
