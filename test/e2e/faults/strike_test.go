package faults

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/faults"
)

// silenced is how many parts of Ceph are silent just now, and how many clocks wrong.
var silenced atomic.Int32

// strike is what a fault does to the operator's process, to its clock or to Ceph.
func strike(ctx context.Context, d driver.Driver, fault faults.Fault) func() {
	return func() {
		if fault.Ends {
			env.Operator(d).Kill()
		}
		if fault.Silent != "" {
			silence(context.WithoutCancel(ctx), fault)
		}
		if fault.Jump != 0 {
			jump(calls[d.Name], fault)
		}
	}
}

func jump(program *faults.Calls, fault faults.Fault) {
	silenced.Add(1)
	jumped := program.Jump(fault.Jump)
	time.AfterFunc(faults.Lasting, func() {
		defer GinkgoRecover()
		defer silenced.Add(-1)
		Expect(errors.Join(jumped, program.Jump(0))).To(Succeed())
	})
}

func silence(ctx context.Context, fault faults.Fault) {
	silenced.Add(1)
	faults.Freeze(ctx, env.Cluster.Ceph(), fault.Silent, fault.Dies, func(err error) {
		defer GinkgoRecover()
		defer silenced.Add(-1)
		Expect(err).NotTo(HaveOccurred())
	})
}

// now is the resourceVersion of this moment.
func now(ctx context.Context) string {
	GinkgoHelper()
	list, err := env.Kube.CoreV1().Namespaces().List(ctx, metav1.ListOptions{Limit: 1})
	Expect(err).NotTo(HaveOccurred())
	return list.ResourceVersion
}
