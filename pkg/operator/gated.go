package operator

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/csi/csiconfigobservercontroller"
	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
)

// wrapped runs a library-go controller's sync on other triggers than its own: library-go
// resyncs static resources each minute with a live GET per object, misses the APIServer
// informer in its config observer, and knows no gate.
type wrapped struct {
	name      string
	inner     factory.SyncFunc
	open      func() bool
	resync    time.Duration
	informers []factory.Informer
	operator  v1helpers.OperatorClient
	recorder  events.Recorder
	// quiet is set where inner's sync reports its errors itself.
	quiet bool
}

func (w wrapped) controller() factory.Controller {
	f := factory.New().
		WithInformers(ctrl.SpecChanges(w.operator.Informer())).
		WithInformers(w.informers...).
		WithControllerInstanceName(w.name).
		ResyncEvery(w.resync).
		WithSync(w.sync)
	if !w.quiet {
		f = f.WithSyncDegradedOnError(w.operator)
	}
	return f.ToController(w.name, w.recorder)
}

func (w wrapped) sync(ctx context.Context, syncCtx factory.SyncContext) error {
	if w.open != nil && !w.open() {
		return nil
	}
	if _, _, _, err := w.operator.GetOperatorState(); apierrors.IsNotFound(err) {
		return nil
	}
	return ctrl.Retry(syncCtx.Queue(), w.inner(ctx, syncCtx))
}

const (
	// waitAgain is when a workload that waits looks again, for what no informer tells.
	waitAgain = 5 * time.Second
	// waitQuietly is for how long a workload waits before it says so: a first installation has
	// everything in less.
	waitQuietly = time.Second
)

// workload creates a Deployment or DaemonSet only when its pods can start: KWOK and a
// kubelet that waits alike would otherwise show pods that hang on a missing Secret, and
// library-go would apply unreplaced placeholders before the TLS profile was observed.
// What exists already is looked after whatever is missing.
type workload struct {
	name     string
	inner    factory.SyncFunc
	manager  string
	exists   func() (bool, error)
	missing  func() ([]string, error)
	operator v1helpers.OperatorClient
	clock    clock.PassiveClock

	// waiting is since when something is missing; only one worker runs sync.
	waiting time.Time
}

func (w *workload) sync(ctx context.Context, syncCtx factory.SyncContext) error {
	spec, _, _, err := w.operator.GetOperatorState()
	if err != nil {
		return err
	}
	if spec.ManagementState != operatorv1.Managed {
		return nil
	}
	exists, err := w.exists()
	if err != nil {
		return err
	}
	if exists && !observed(spec.ObservedConfig) {
		return nil // The config observer's write triggers the next sync.
	}
	if exists {
		return w.inner(ctx, syncCtx)
	}
	missing, err := w.missing()
	if err != nil {
		return err
	}
	if !observed(spec.ObservedConfig) {
		missing = append(missing, "observed TLS profile of APIServer/cluster")
	}
	if len(missing) == 0 {
		w.waiting = time.Time{}
		return w.inner(ctx, syncCtx)
	}
	if w.waiting.IsZero() {
		w.waiting = w.clock.Now()
	}
	if quiet := waitQuietly - w.clock.Since(w.waiting); quiet > 0 {
		syncCtx.Queue().AddAfter(factory.DefaultQueueKey, quiet)
		return nil
	}
	syncCtx.Queue().AddAfter(factory.DefaultQueueKey, waitAgain)
	message := "Waiting for " + strings.Join(missing, ", ")
	return w.operator.ApplyOperatorStatus(ctx, w.manager, applyoperatorv1.OperatorStatus().WithConditions(
		condition.New(w.name+operatorv1.OperatorStatusTypeAvailable, operatorv1.ConditionFalse, condition.WaitingForObjects, message),
		condition.New(w.name+operatorv1.OperatorStatusTypeProgressing, operatorv1.ConditionTrue, condition.WaitingForObjects, message),
	))
}

// observed says whether the config observer has written the TLS profile.
func observed(config runtime.RawExtension) bool {
	var content map[string]any
	if err := json.Unmarshal(config.Raw, &content); err != nil {
		return false
	}
	_, found, err := unstructured.NestedStringSlice(content, csiconfigobservercontroller.CipherSuitesPath()...)
	return err == nil && found
}
