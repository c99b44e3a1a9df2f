package controller

import (
	"time"

	"github.com/openshift/library-go/pkg/controller/factory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// conflictRetry is when to try again after a conflict that no informer has told of.
	conflictRetry = time.Second
	// latestRetry is when to try again at the latest: the queue's waits double up to a quarter of an
	// hour, and what is mended meanwhile, such as a webhook that refused, wakes nobody.
	latestRetry = 30 * time.Second
)

// Queue is a controller's, that of a factory.SyncContext.
type Queue interface {
	AddAfter(item any, wait time.Duration)
}

// Retry sees to it that a sync which failed runs again soon, and takes a conflict from its error: somebody
// has written the object since it was read, such as the status of a new Deployment. An informer tells of
// that; a limit by rate would start anew with each sync that seems to succeed.
func Retry(queue Queue, err error) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsConflict(err):
		queue.AddAfter(factory.DefaultQueueKey, conflictRetry)
		return nil
	}
	queue.AddAfter(factory.DefaultQueueKey, latestRetry)
	return err
}
