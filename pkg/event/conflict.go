package event

import (
	"time"

	"github.com/openshift/library-go/pkg/controller/factory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// conflictRetry is when to try again after a conflict that no informer has told of.
const conflictRetry = time.Second

// AfterConflict takes a conflict from a sync's error: somebody has written the object since it was
// read, such as the status of a new Deployment. An informer tells of that, and otherwise the sync
// runs again soon; a limit by rate would start anew with each sync that seems to succeed.
func AfterConflict(syncCtx factory.SyncContext, err error) error {
	if !apierrors.IsConflict(err) {
		return err
	}
	syncCtx.Queue().AddAfter(factory.DefaultQueueKey, conflictRetry)
	return nil
}
