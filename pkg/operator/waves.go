package operator

import (
	"context"
	"path"
	"sync"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/resource/resourceapply"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	"k8s.io/utils/clock"
)

// reviewAfter is when everything is compared after a first installation: the informers' news
// of what was just created would have it compared several times over.
const reviewAfter = 500 * time.Millisecond

// waves applies the static assets of a first installation at once, wave after wave, before
// inner compares everything in order, one by one, as it does ever after. The API server takes
// about 0.1 seconds for each role, to compare its rules with the operator's own; one after the
// other, they would be most of an installation.
type waves struct {
	inner    factory.SyncFunc
	operator v1helpers.OperatorClient
	// installed says that they were applied before.
	installed func() (bool, error)
	// waves are the names of the assets that may be applied together.
	waves [][]string
	// apply applies one asset; inner reports what fails.
	apply func(ctx context.Context, syncCtx factory.SyncContext, name string)
	clock clock.PassiveClock

	// appliedAt is when the waves were; only one worker runs sync.
	appliedAt time.Time
}

// byTens makes waves of assets whose names start with the same digit, such as 10_ and 15_.
func byTens(files []string) [][]string {
	var out [][]string
	last := byte(0)
	for _, file := range files {
		if digit := path.Base(file)[0]; digit != last {
			out, last = append(out, nil), digit
		}
		out[len(out)-1] = append(out[len(out)-1], file)
	}
	return out
}

func (w *waves) sync(ctx context.Context, syncCtx factory.SyncContext) error {
	spec, _, _, err := w.operator.GetOperatorState()
	if err != nil {
		return err
	}
	installed, err := w.installed()
	if err != nil {
		return err
	}
	if spec.ManagementState == operatorv1.Managed && !installed && w.appliedAt.IsZero() {
		for _, wave := range w.waves {
			var all sync.WaitGroup
			for _, name := range wave {
				all.Go(func() { w.apply(ctx, syncCtx, name) })
			}
			all.Wait()
		}
		w.appliedAt = w.clock.Now()
	}
	if wait := reviewAfter - w.clock.Since(w.appliedAt); wait > 0 {
		syncCtx.Queue().AddAfter(factory.DefaultQueueKey, wait)
		return nil
	}
	return w.inner(ctx, syncCtx)
}

// applyDirectly applies an asset as library-go's static controller does.
func applyDirectly(clients *resourceapply.ClientHolder, asset resourceapply.AssetFunc) func(context.Context, factory.SyncContext, string) {
	return func(ctx context.Context, syncCtx factory.SyncContext, name string) {
		resourceapply.ApplyDirectly(ctx, clients, syncCtx.Recorder(), resourceapply.NewResourceCache(), asset, name)
	}
}
