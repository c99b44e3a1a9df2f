// Package teardown runs `teardown`, as it is built, on a real Ceph in which several clusters' volumes
// lie side by side, as ceph-csi lays them out. There is no Kubernetes: that is the promise.
package teardown

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

var (
	daemons *cephdaemons.Ceph
	ceph    *volumes.Ceph
	binary  string
)

// Where everything lies.
var (
	block  = volumes.Class{Place: volumes.Place{Pool: "vms"}, Features: volumes.Layering}
	tenant = volumes.Class{Place: volumes.Place{Pool: "vms", Namespace: "tenant"}, Features: volumes.Layering}
	files  = volumes.FileClass{Filesystem: cephdaemons.Filesystem}
)

func TestTeardown(t *testing.T) { fixture.Run(t, "Tearing clusters down") }

var _ = BeforeSuite(func(ctx SpecContext) {
	var err error
	binary, err = operatorprocess.Binary()
	Expect(err).NotTo(HaveOccurred())
	dir := GinkgoT().TempDir()
	logs := filepath.Join(dir, "logs")
	Expect(os.Mkdir(logs, 0o700)).To(Succeed())
	group := process.NewGroup(logs, func(process.Record) error { return nil })
	DeferCleanup(group.Kill)
	daemons, err = cephdaemons.Start(ctx, cephdaemons.Options{Dir: filepath.Join(dir, "ceph"), Daemons: group, Log: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	// A killed client's watch else holds its image for 30 s.
	_, err = daemons.Command(ctx, "config", "set", "osd", "osd_client_watch_timeout", "6")
	Expect(err).NotTo(HaveOccurred())
	for _, pool := range []string{"vms", "fast"} {
		Expect(daemons.CreatePool(ctx, pool, "rbd")).To(Succeed())
	}
	ceph, err = volumes.Open(daemons.ConfFile(), daemons.KeyringFile())
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { ceph.Close() })
	Expect(ceph.Hurry()).To(Succeed())
	Expect(ceph.CreateNamespace(tenant.Place)).To(Succeed())
	Expect(ceph.Group(files)).To(Succeed())
})

// Told in this order: each chapter has clusters of its own, and leaves what belongs to nobody.
var _ = Describe("Tearing down", Ordered, ContinueOnFailure, func() {
	Context("without a cluster to be found,", nothing)
	Context("with interruptions,", interruptions)
	Context("with writes that fail,", calls)
	Context("one of two clusters", bystanders)
	Context("with a choice,", choices)
	Context("what may not go,", refusals)
	Context("what another Ceph cluster follows,", mirrored)
	Context("what others need or use,", users)
	Context("a cluster that lives,", living)
})

// dump is everything that lies in Ceph.
func dump() volumes.Dump {
	GinkgoHelper()
	d, err := ceph.Dump([]string{"vms", "fast"}, files.Filesystem)
	Expect(err).NotTo(HaveOccurred())
	return d
}

// changes leaves out that the first image in a pool's trash leaves the trash's directory there.
func changes(before, after volumes.Dump) []string {
	trash := "+ " + block.Place.Pool + "/rbd_trash: "
	return slices.DeleteFunc(before.Changes(after), func(c string) bool { return c == trash })
}

// together lays things out at the same time.
func together(works ...func() error) {
	GinkgoHelper()
	Expect(volumes.Parallel(len(works), func(n int) error { return works[n]() })).To(Succeed())
}
