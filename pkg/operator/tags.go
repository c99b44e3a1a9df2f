package operator

import (
	"context"

	"github.com/openshift/library-go/pkg/controller/factory"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/tags"
)

// tags are looked after whoever serves the volumes, so that a teardown finds them.
func (s starter) tags(client func(fsid string) (Session, bool)) factory.Controller {
	return tags.New(tags.Config{
		Driver:   s.driver,
		Operator: s.clients.operator,
		Client: func(fsid string) (driver.TagStore, bool) {
			session, ok := client(fsid)
			return session, ok
		},
		Clusters:          s.clusters,
		ClusterIDs:        s.clusterConfig,
		Triggers:          []factory.Informer{s.usage, s.gate, s.configInformer()},
		Infrastructures:   s.clients.config.Config().V1().Infrastructures(),
		PersistentVolumes: s.clients.volumes.Core().V1().PersistentVolumes(),
		Volumes:           s.clients.kube.CoreV1(),
		Ours:              s.open,
		Report:            s.reports.tags,
		Contents:          s.contents,
		Tell: func(ctx context.Context, about corev1.ObjectReference, message string) error {
			return s.warn(ctx, about, "ForeignTag", message, 0)
		},
		Recorder: s.recorder,
		Clock:    clock.RealClock{},
	})
}
