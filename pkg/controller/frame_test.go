package controller

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestFrameTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("a webhook refuses")
		env := Env{Driver: driver.RBD, Operator: conditiontest.New(operatorv1.Managed)}
		sync := env.WithCR(func(context.Context, factory.SyncContext, operatorv1.ManagementState) error { return refused })
		syncCtx := factory.NewSyncContext("test", events.NewInMemoryRecorder("test", clock.RealClock{}))
		defer syncCtx.Queue().ShutDown()
		if err := sync(t.Context(), syncCtx); !errors.Is(err, refused) {
			t.Errorf("got %v", err)
		}
		<-time.After(latestRetry + time.Second)
		if n := syncCtx.Queue().Len(); n != 1 {
			t.Errorf("%d syncs are due after %v, want 1: when the webhook is mended, nobody tells", n, latestRetry)
		}
	})
}
