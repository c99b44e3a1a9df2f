package operator

import (
	"context"
	"fmt"

	"github.com/openshift/library-go/pkg/controller/factory"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/pools"
	"github.com/openshift/ceph-csi-driver-operator/pkg/presence"
)

func (s starter) poolsInUse(client func(fsid string) (Session, bool)) factory.Controller {
	return pools.NewCare(pools.CareConfig{
		Driver:   s.driver,
		Operator: s.clients.operator,
		Client: func(fsid string) (pools.Cluster, bool) {
			session, ok := client(fsid)
			return session, ok
		},
		Clusters: s.clusters,
		Usage:    s.usage,
		Unknown: func() error {
			_, _, err := s.contents.Taken()
			return err
		},
		Proof:           s.proof,
		Placement:       s.placement,
		Open:            s.open,
		Settings:        s.settings,
		Infrastructures: s.clients.config.Config().V1().Infrastructures(),
		Problems:        s.classProblems,
		Report:          s.reports.pools,
		Capacities:      s.reports.capacities,
		Used:            s.used,
		Tell:            s.tellClass,
		Recorder:        s.recorder,
		Clock:           clock.RealClock{},
	})
}

func (s starter) presence(client func(fsid string) (Session, bool)) factory.Controller {
	return presence.New(presence.Config{
		Driver:   s.driver,
		Operator: s.clients.operator,
		Client: func(fsid string) (presence.Cluster, bool) {
			session, ok := client(fsid)
			return session, ok
		},
		Clusters:        s.clusters,
		Used:            s.used,
		Infrastructures: s.clients.config.Config().V1().Infrastructures(),
		Host:            s.host,
		Recorder:        s.recorder,
		Clock:           clock.RealClock{},
	})
}

// tellClass writes a warning about a StorageClass.
func (s starter) tellClass(ctx context.Context, class, message string, before int) error {
	object, err := s.clients.cluster().Storage().V1().StorageClasses().Lister().Get(class)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading StorageClass %s: %w", class, err)
	}
	about := corev1.ObjectReference{APIVersion: "storage.k8s.io/v1", Kind: "StorageClass", Name: class, UID: object.UID}
	return s.warn(ctx, about, "CephPlaceMissing", message, before)
}
