package conditiontest

import (
	"testing"
	"time"

	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	"k8s.io/utils/clock"
)

// SyncsInAMinute counts how often sync runs because it asks for it, as library-go would run it. It
// is for tests in a bubble of package synctest, where the minute takes no time.
func SyncsInAMinute(t *testing.T, sync factory.SyncFunc) int {
	t.Helper()
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
	return syncs
}
