package glue

import (
	"context"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	operatorclient "github.com/openshift/client-go/operator/clientset/versioned/typed/operator/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

var (
	env      *fixture.Environment
	storages operatorclient.StorageInterface
)

func TestGlue(t *testing.T) { fixture.Run(t, "From manifests to ClusterOperator storage and back") }

// The cluster has no cluster-storage-operator: nor what it brings.
var _ = BeforeSuite(func(ctx SpecContext) {
	env = fixture.Start(ctx, embedded.Options{WithoutOperatorRBAC: true})
	operators, err := operatorclient.NewForConfig(env.Cluster.AdminConfig())
	Expect(err).NotTo(HaveOccurred())
	storages = operators.Storages()
	Expect(storages.Delete(ctx, "cluster", metav1.DeleteOptions{})).To(Succeed())
	for name := range assets.SharedRoles() {
		Expect(env.Kube.RbacV1().ClusterRoles().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
	}
	env.RunPods()
})

// storageCondition is a condition of Storage/cluster; its zero value means that there is none.
func storageCondition(ctx context.Context, g Gomega, kind string) operatorv1.OperatorCondition {
	GinkgoHelper()
	storage, err := storages.Get(ctx, "cluster", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	for _, c := range storage.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return operatorv1.OperatorCondition{}
}

// tuneStorage changes the spec of Storage/cluster.
func tuneStorage(ctx context.Context, change func(*operatorv1.StorageSpec)) {
	GinkgoHelper()
	Expect(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		current, err := storages.Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(&current.Spec)
		_, err = storages.Update(ctx, current, metav1.UpdateOptions{})
		return err
	})).To(Succeed())
}

func beNotFound(err error) bool { return apierrors.IsNotFound(err) }
