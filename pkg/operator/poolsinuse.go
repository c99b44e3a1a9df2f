package operator

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/openshift/library-go/pkg/controller/factory"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/pools"
)

// eventDeadline bounds the writing of one event.
const eventDeadline = 10 * time.Second

func (s starter) poolsInUse(client func(fsid string) (Session, bool)) factory.Controller {
	return pools.NewCare(pools.CareConfig{
		Driver:   s.driver,
		Operator: s.clients.operator,
		Client: func(fsid string) (pools.Cluster, bool) {
			session, ok := client(fsid)
			return session, ok
		},
		Clusters:        s.clusters,
		Usage:           s.usage,
		Placement:       s.placement,
		Open:            s.open,
		Settings:        s.settings,
		Infrastructures: s.clients.config.Config().V1().Infrastructures(),
		Problems:        s.classProblems,
		Report:          s.reports.pools,
		Tell:            s.tellClass,
		Recorder:        s.recorder,
		Clock:           clock.RealClock{},
	})
}

// tellClass writes a warning about a StorageClass, where `oc describe` shows it. library-go's
// recorder knows only the operator's own Deployment. The name tells events of other texts
// apart: after a restart, the one that is there already is not written again.
func (s starter) tellClass(ctx context.Context, class, message string, before int) error {
	object, err := s.clients.cluster().Storage().V1().StorageClasses().Lister().Get(class)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading StorageClass %s: %w", class, err)
	}
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%s %d %s", object.UID, before, message)
	now := metav1.Now()
	event := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s.%x", class, hash.Sum64()), Namespace: metav1.NamespaceDefault},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: "storage.k8s.io/v1", Kind: "StorageClass", Name: class, UID: object.UID,
		},
		Type: corev1.EventTypeWarning, Reason: "CephPlaceMissing", Message: cut(message),
		Source:         corev1.EventSource{Component: s.driver.OperatorName()},
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}
	ctx, cancel := context.WithTimeout(ctx, eventDeadline)
	defer cancel()
	_, err = s.clients.kube.CoreV1().Events(metav1.NamespaceDefault).Create(ctx, event, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("writing an event about StorageClass %s: %w", class, err)
	}
	return nil
}

// cut keeps to what the API server takes as an event's message.
func cut(message string) string {
	const most = 1024
	if len(message) > most {
		return message[:most-3] + "..."
	}
	return message
}
