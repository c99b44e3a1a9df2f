package faults

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// installed declares Ceph and a driver for the first time. Taken back, there is nothing that an operator could remember.
func installed(d driver.Driver) change {
	before := map[string]bool{}
	return change{name: d.Kind + ", the first installation", thereOnly: true, prepare: func(context.Context) {
		for _, object := range env.History.Latest() {
			before[pathOf(object)] = true
		}
	}, do: func(ctx context.Context) {
		env.Declare(ctx, env.Credentials())
		env.CreateDriver(ctx, d)
	}, undo: func(ctx context.Context) {
		awaitRemoved(ctx, d)
		env.StopOperator(ctx, d)
		Expect(env.Drivers.Delete(ctx, d.Name, metav1.DeleteOptions{})).To(Succeed())
		deleteObjects(ctx, before)
		emptyCeph(ctx)
		start(ctx, d, env.Program())
	}}
}

// awaitRemoved has the operator take its driver off the cluster.
func awaitRemoved(ctx context.Context, d driver.Driver) {
	GinkgoHelper()
	patch(ctx, d, "/spec/managementState", operatorv1.Removed)
	Eventually(func(g Gomega) {
		revive(g)
		_, deployed := env.Kube.AppsV1().Deployments(driver.Namespace).Get(ctx, d.ControllerName(), metav1.GetOptions{})
		_, onNodes := env.Kube.AppsV1().DaemonSets(driver.Namespace).Get(ctx, d.NodeName(), metav1.GetOptions{})
		_, offered := env.Kube.StorageV1().StorageClasses().Get(ctx, d.StorageClass, metav1.GetOptions{})
		for _, err := range []error{deployed, onNodes, offered} {
			g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
		}
	}).WithContext(ctx).WithTimeout(2 * fixture.Patience).Should(Succeed())
}

// deleteObjects deletes those that have come since, the record of the driver among them.
func deleteObjects(ctx context.Context, before map[string]bool) {
	GinkgoHelper()
	for _, object := range env.History.Latest() {
		if ns := object.GetNamespace(); before[pathOf(object)] || ns != "" && ns != driver.Namespace || object.GetKind() == "ClusterCSIDriver" {
			continue
		}
		err := env.Kube.CoreV1().RESTClient().Delete().AbsPath(pathOf(object)).Do(ctx).Error()
		if !apierrors.IsNotFound(err) {
			Expect(err).NotTo(HaveOccurred(), pathOf(object))
		}
	}
}

// emptyCeph removes from Ceph whatever was not there before any operator.
func emptyCeph(ctx context.Context) {
	GinkgoHelper()
	run := func(arguments ...string) {
		GinkgoHelper()
		_, err := env.Cluster.Ceph().Command(ctx, arguments...)
		Expect(err).NotTo(HaveOccurred())
	}
	for _, u := range users(ctx) {
		if _, known := untouched["user "+u.Entity]; !known {
			run("auth", "rm", u.Entity)
		}
	}
	for _, p := range pools(ctx) {
		if strings.Contains(p.Flags, "nodelete") && !strings.Contains(untouched["pool "+p.Name], "nodelete") {
			run("osd", "pool", "set", p.Name, "nodelete", "false")
		}
		if _, known := untouched["pool "+p.Name]; !known {
			run("osd", "pool", "rm", p.Name, p.Name, "--yes-i-really-really-mean-it")
			continue
		}
		for application, keys := range p.Metadata {
			for key, value := range keys {
				if !strings.Contains(untouched["pool "+p.Name], fmt.Sprintf("%s:%s", key, value)) {
					run("osd", "pool", "application", "rm", p.Name, application, key)
				}
			}
		}
	}
}
