package credentials

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cephtypes "github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// oldKernels are what a condition says of nodes that may not know keys of type aes256k.
const oldKernels = "kernels of nodes master-0 (5.14.0-570.el9.x86_64)"

// needBothTypes skips a spec where users may have keys of one type only: before Ceph 20.2.4, and in a cluster
// that was made with it. One that was upgraded allows both.
func needBothTypes(ctx context.Context) {
	GinkgoHelper()
	monMap, err := cephtypes.ParseMonDump(ceph(ctx, "mon", "dump", "--format", "json"))
	Expect(err).NotTo(HaveOccurred())
	for _, kind := range []cephtypes.KeyType{cephtypes.AES, cephtypes.AES256} {
		if !monMap.Keys.Allows(kind) {
			Skip(fmt.Sprintf("this Ceph cluster allows no keys of type %s", kind))
		}
	}
}

// turned waits until all users have keys of a type, the Secrets have these keys, and events have told of each.
func turned(ctx context.Context, kind cephtypes.KeyType, said types.GomegaMatcher) {
	GinkgoHelper()
	for _, d := range driver.All {
		Eventually(func(g Gomega) {
			users := cephUsers(ctx, g)
			secretsHave(ctx, g, users, d, d.ProvisionerUser(infraID), d.NodeUser(infraID))
			events, err := env.Kube.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: "reason=CephUserKeyRotated"})
			g.Expect(err).NotTo(HaveOccurred())
			var told []string
			for _, event := range events.Items {
				told = append(told, event.Message)
			}
			for _, id := range []string{d.ProvisionerUser(infraID), d.NodeUser(infraID)} {
				g.Expect(cephtypes.NewKey(users[id].Key).Type()).To(Equal(kind), id)
				g.Expect(told).To(ContainElement(ContainSubstring("client.%s a key of type %s; ", id, kind)))
			}
			g.Expect(env.Condition(ctx, g, d, "CredentialsMinted").Message).To(said)
			g.Expect(string(env.Condition(ctx, g, d, "CephResourcesDegraded").Status)).To(Equal("False"))
		}).WithContext(ctx).WithPolling(fixture.CephPolling).Should(Succeed())
	}
}

func keyTypes() {
	It("they follow the setting there and back, and nodes are named that may not know them", func(ctx SpecContext) {
		needBothTypes(ctx)
		set(ctx, "keyType", cephtypes.AES256)
		turned(ctx, cephtypes.AES256, ContainSubstring(oldKernels))
		out, err := as(ctx, driver.RBD.NodeSecret(), "rbd", "ls", ownPool)
		Expect(err).NotTo(HaveOccurred(), out)

		set(ctx, "keyType", cephtypes.AES)
		turned(ctx, cephtypes.AES, Not(ContainSubstring("kernels")))
		out, err = as(ctx, driver.RBD.NodeSecret(), "rbd", "ls", ownPool)
		Expect(err).NotTo(HaveOccurred(), out)
		set(ctx, "keyType", nil)
		env.Settle(ctx)
		Eventually(asMinted).WithContext(ctx).WithPolling(fixture.CephPolling).Should(Succeed())
	})
}
