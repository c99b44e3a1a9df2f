package beside

import (
	"context"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	configclient "github.com/openshift/client-go/config/clientset/versioned"
	operatorclient "github.com/openshift/client-go/operator/clientset/versioned/typed/operator/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

var (
	env      *fixture.Environment
	configs  configclient.Interface
	storages operatorclient.StorageInterface
)

func TestBeside(t *testing.T) {
	fixture.Run(t, "Beside a cluster-storage-operator that does not know Ceph")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	env = fixture.Start(ctx, embedded.Options{WithoutOperatorRBAC: true})
	var err error
	configs, err = configclient.NewForConfig(env.Cluster.AdminConfig())
	Expect(err).NotTo(HaveOccurred())
	operators, err := operatorclient.NewForConfig(env.Cluster.AdminConfig())
	Expect(err).NotTo(HaveOccurred())
	storages = operators.Storages()
	standIn()
	env.RunPods()
	env.Kubectl(ctx, "apply", "-f", "manifests/")
})

var _ = Describe("Beside a cluster-storage-operator", Ordered, func() {
	withoutCeph()
	aggregated()
	moved()
	outage()
	uninstalled()
})

// names are the Deployments of `cluster-storage` and of the operators.
var names = []string{fixture.GlueAccount, driver.RBD.OperatorName(), driver.CephFS.OperatorName()}

// requests are those of one of names.
func requests(name string, since time.Time) []auditv1.Event {
	GinkgoHelper()
	for _, d := range driver.All {
		if d.OperatorName() == name {
			return env.Requests(d, since)
		}
	}
	return env.GlueRequests(since)
}

// changes are the requests that write anything but leases and events.
func changes(all []auditv1.Event) []auditv1.Event {
	return slices.DeleteFunc(fixture.Writes(all), func(r auditv1.Event) bool {
		return r.ObjectRef != nil && r.ObjectRef.Resource == "events"
	})
}

// storage is ClusterOperator storage, and the status and message of each of its conditions.
func storage(ctx context.Context, g Gomega) (*configv1.ClusterOperator, map[configv1.ClusterStatusConditionType][2]string) {
	GinkgoHelper()
	operator, err := configs.ConfigV1().ClusterOperators().Get(ctx, "storage", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	out := map[configv1.ClusterStatusConditionType][2]string{}
	for _, c := range operator.Status.Conditions {
		out[c.Type] = [2]string{string(c.Status), c.Message}
	}
	return operator, out
}

// healthy compares ClusterOperator storage with what a working storage has.
func healthy(ctx context.Context, g Gomega) {
	GinkgoHelper()
	_, conditions := storage(ctx, g)
	for kind, want := range map[configv1.ClusterStatusConditionType]string{
		configv1.OperatorAvailable: "True", configv1.OperatorProgressing: "False", configv1.OperatorDegraded: "False", configv1.OperatorUpgradeable: "True",
	} {
		g.Expect(conditions[kind][0]).To(Equal(want), "%s: %s", kind, conditions[kind][1])
	}
}
