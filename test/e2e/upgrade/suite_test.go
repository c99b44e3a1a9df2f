package upgrade

import (
	"path/filepath"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorclient "github.com/openshift/client-go/operator/clientset/versioned/typed/operator/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
	"github.com/openshift/ceph-csi-driver-operator/test/former"
	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

var (
	env      *fixture.Environment
	storages operatorclient.StorageInterface
	// csi lays volumes out as ceph-csi does.
	csi *volumes.Ceph
	// before is the former version, present what is built from this checkout.
	before, present former.Release
)

func TestUpgrade(t *testing.T) { fixture.Run(t, "From the former version to this one and back") }

// onOpenShift starts one without a cluster-storage-operator, and without what that brings.
func onOpenShift(ctx SpecContext) {
	start(ctx, embedded.Options{WithoutOperatorRBAC: true, Masters: 2, Workers: 2}, "")
	operators, err := operatorclient.NewForConfig(env.Cluster.AdminConfig())
	Expect(err).NotTo(HaveOccurred())
	storages = operators.Storages()
	Expect(storages.Delete(ctx, "cluster", metav1.DeleteOptions{})).To(Succeed())
	for name := range assets.SharedRoles() {
		Expect(env.Kube.RbacV1().ClusterRoles().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
	}
}

// start runs a cluster for the manifests of a folder below manifests.
func start(ctx SpecContext, options embedded.Options, folder string) {
	GinkgoHelper()
	version := fixture.BuildFormer(ctx)
	root, err := repository.Root()
	Expect(err).NotTo(HaveOccurred())
	before = release(ctx, "4.22.0", filepath.Join(version.Manifests(), folder))
	present = release(ctx, "4.23.0", filepath.Join(root, "manifests", folder))
	binary, err := operatorprocess.Binary()
	Expect(err).NotTo(HaveOccurred())
	moves = nil
	env = fixture.Start(ctx, options)
	csi, err = volumes.Open(env.Cluster.Ceph().ConfFile(), env.Cluster.Ceph().KeyringFile())
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { csi.Close() })
	env.RunPodsOf(map[string]string{before.Image: version.Binary(), present.Image: binary})
}

// The chapters follow each other: each starts where the last one ended.
var _ = Describe("A cluster in use", Ordered, ContinueOnFailure, func() {
	BeforeAll(onOpenShift)
	installed()
	upgraded()
	rolledBack()
	upgradedAgain()
	throughout()
})

var _ = Describe("A Kubernetes in use", Ordered, ContinueOnFailure, func() {
	BeforeAll(func(ctx SpecContext) { start(ctx, embedded.Options{Plain: true}, "kubernetes") })
	upgradedPlainly()
	throughout()
})
