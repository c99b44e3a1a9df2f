// Package tags is what operators do about the tags of images and subvolumes that they find.
package tags

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/rados"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

// infraID is that of the OpenShift cluster.
const infraID = embedded.DefaultInfrastructureName

var (
	env *fixture.Environment
	// conn looks into Ceph without opening an image.
	conn *rados.Conn
	// csi lays out as ceph-csi does what takes more than a command.
	csi *volumes.Ceph
)

func TestTags(t *testing.T) { fixture.Run(t, "Tags of volumes") }

var _ = BeforeSuite(func(ctx SpecContext) {
	env = fixture.Start(ctx, embedded.Options{})
	source, err := ceph.ParseSource(ctx, env.Credentials(), nil)
	Expect(err).NotTo(HaveOccurred())
	conn, err = rados.Dial(ctx, source, rados.Options{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(conn.Close)
	csi, err = volumes.Open(env.Cluster.Ceph().ConfFile(), env.Cluster.Ceph().KeyringFile())
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { csi.Close() })
	Expect(csi.Hurry()).To(Succeed())
	prepare(ctx)
	env.Declare(ctx, env.Credentials())
	for _, d := range driver.All {
		env.CreateDriver(ctx, d)
		env.StartOperator(ctx, d)
	}
})

var _ = Describe("Volumes", Ordered, ContinueOnFailure, func() {
	for _, k := range kinds {
		Context("of "+k.driver.Kind, func() {
			untagged(k)
			conflicting(k)
			retained(k)
			if k.driver.DetachUntags {
				detached(k)
			}
			restarted(k)
			forgotten(k)
			snapshots(k)
		})
	}
	Context("of cephfs", func() { shown(kinds[1]) })
	gone()
})
