package beside

import (
	"context"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	configinformers "github.com/openshift/client-go/config/informers/externalversions"
	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/operator/genericoperatorclient"
	"github.com/openshift/library-go/pkg/operator/status"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/openshift"
)

// related are the objects that cluster-storage-operator names on a cluster without a driver
// that it knows.
var related = []configv1.ObjectReference{
	{Resource: "namespaces", Name: "openshift-cluster-storage-operator"},
	{Resource: "namespaces", Name: driver.Namespace},
	{Group: "operator.openshift.io", Resource: "storages", Name: "cluster"},
	{Group: "rbac.authorization.k8s.io", Resource: "clusterrolebindings", Name: "cluster-storage-operator-role"},
}

// standIn runs what of cluster-storage-operator (CSO) matters here, until the suite ends. CSO
// itself is not to be had: Go's module proxy does not serve it. CSO's controller is the same,
// library-go's, with the same arguments: it takes every condition of Storage/cluster, whoever
// has written it, by the end of its type. What differs: here, Degraded is believed at once and
// not after two minutes.
func standIn() {
	GinkgoHelper()
	klog.LogToStderr(false)
	klog.SetOutput(GinkgoWriter)
	config := env.Cluster.AdminConfig()
	client, instances, err := genericoperatorclient.NewClusterScopedOperatorClientWithConfigName(clock.RealClock{}, config,
		operatorv1.GroupVersion.WithResource("storages"), operatorv1.GroupVersion.WithKind("Storage"), "cluster", ctrl.AppliedSpec, ctrl.AppliedStatus)
	Expect(err).NotTo(HaveOccurred())
	informers := configinformers.NewSharedInformerFactory(configs, time.Hour)
	versions := status.NewVersionGetter()
	versions.SetVersion("operator", openshift.Version)
	syncer := status.NewClusterOperatorStatusController("storage", related, configs.ConfigV1(), informers.Config().V1().ClusterOperators(),
		client, versions, events.NewInMemoryRecorder("stand-in", clock.RealClock{}), clock.RealClock{}).
		WithVersionRemoval().WithDegradedInertia(status.MustNewInertia(0).Inertia)
	ctx, stop := context.WithCancel(context.Background())
	informers.Start(ctx.Done())
	instances.Start(ctx.Done())
	var running sync.WaitGroup
	running.Go(func() { syncer.Run(ctx, 1) })
	DeferCleanup(func() {
		stop()
		running.Wait()
	})
}
