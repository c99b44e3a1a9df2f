package faults

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// looks are several times what the drivers look apart before they withdraw something.
const looks = 20 * time.Second

// unseen has a volume come to a pool while the operator's watch of volumes says nothing, and then the last other user of the pool go.
func unseen(ctx SpecContext) {
	d := driver.RBD
	pool := another(d)
	protected := func(ctx context.Context) bool { return slices.Contains(env.ProtectedPools(ctx, Default), pool) }
	createClass(ctx, d)
	Eventually(protected).WithContext(ctx).WithPolling(fixture.CephPolling).Should(BeTrue())

	arm(ctx, d, attempt{})
	proxies[d.Name].Hold("/api/v1/persistentvolumes")
	DeferCleanup(proxies[d.Name].Release)
	createVolume(ctx, d, "unseen", handleIn(ctx, pool))
	Expect(env.Kube.StorageV1().StorageClasses().Delete(ctx, pool, metav1.DeleteOptions{})).To(Succeed())
	taken := func() []string {
		commands, err := calls[d.Name].Writes()
		Expect(err).NotTo(HaveOccurred())
		return slices.DeleteFunc(commands, func(c string) bool {
			// The note that the flag is being set goes after that, which takes nothing.
			ends := strings.Contains(c, "changing-nodelete") && strings.Contains(c, "osd pool application rm")
			return ends || !strings.Contains(c, `"`+pool+`"`)
		})
	}
	Consistently(taken).WithContext(ctx).WithTimeout(looks).WithPolling(fixture.CephPolling).Should(BeEmpty(), "taken from a volume that the operator's cache does not have")

	proxies[d.Name].Release()
	Expect(env.Kube.CoreV1().PersistentVolumes().Delete(ctx, "unseen", metav1.DeleteOptions{})).To(Succeed())
	Eventually(protected).WithContext(ctx).WithPolling(fixture.CephPolling).Should(BeFalse())
}

// handleIn is that of a volume in a pool.
func handleIn(ctx context.Context, name string) string {
	GinkgoHelper()
	all, fsid := pools(ctx), env.Cluster.Ceph().FSID()
	at := slices.IndexFunc(all, func(p pool) bool { return p.Name == name })
	Expect(at).NotTo(Equal(-1))
	return fmt.Sprintf("0001-%04x-%s-%016x-6e696bba-064f-11ec-a251-0242ac110002", len(fsid), fsid, all[at].ID)
}
