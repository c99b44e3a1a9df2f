package teardown

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	tags "github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/rados"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

func users() {
	It("refuses everything while a client is connected as one of its users, which go with the rest", func(ctx SpecContext) {
		a := ceph.Cluster("manned-a1b2c", 1)
		image := must(a.Image(block, "one"))
		node, other := driver.RBD.NodeUser(a.InfraID), driver.RBD.NodeUser("someone-else")
		client := connect(ctx, node)
		connect(ctx, other)
		before := dump()

		r := teardown(ctx, a.InfraID)
		Expect(r.code).To(Equal(3), r.stdout+r.stderr)
		Expect(r.named("refuse")).To(ConsistOf(image.Name, "client."+node))
		Expect(r.reason(image.Name)).To(ContainSubstring("client." + node))
		Expect(before.Changes(dump())).To(BeEmpty())

		client.Close()
		Eventually(func() int { return teardown(ctx, a.InfraID, "--dry-run").code }).
			WithContext(ctx).WithTimeout(fixture.Patience).Should(Equal(0), "the mons still count the client")
		r = teardown(ctx, a.InfraID, "--keep-users")
		Expect(r.code).To(Equal(0), r.stdout+r.stderr)
		Expect(r.named("remove")).To(ConsistOf(image.Name))
		Expect(r.named("keep")).To(ContainElement("client." + node))
		Expect(cephxUsers(ctx)).To(ContainElements("client."+node, "client."+other))
		Expect(run(ctx, "--list").stdout).To(ContainSubstring("manned-a1b2c: 0 volumes and snapshots; claims: none; users: client."+node+"; connected: none"),
			"nothing but a user is left of it")

		Expect(teardown(ctx, a.InfraID).code).To(Equal(0))
		Expect(cephxUsers(ctx)).To(And(ContainElement("client."+other), Not(ContainElement("client."+node))))
		expectNothingOf(dump(), a)
	})

	It("leaves the parents of others' clones to the trash with --keep-for-children, until these go", func(ctx SpecContext) {
		a, b := ceph.Cluster("parent-a1b2c", 1), ceph.Cluster("child-d3e4f", 2)
		parent := must(a.Image(block, "parent"))
		clone := must(b.CloneImage(parent, "clone"))
		before := dump()
		r := teardown(ctx, a.InfraID)
		Expect(r.code).To(Equal(3), r.stdout+r.stderr)
		Expect(r.reason(parent.Name)).To(ContainSubstring(clone.Temp()))
		Expect(before.Changes(dump())).To(BeEmpty())

		r = teardown(ctx, a.InfraID, "--keep-for-children")
		Expect(r.code).To(Equal(0), r.stdout+r.stderr)
		Expect(r.Items[slices.IndexFunc(r.Items, func(i item) bool { return i.Name == parent.Name })].Note).To(ContainSubstring("trash"))
		after := dump()
		Expect(after.About(parent.UUID())).NotTo(HaveKey(ContainSubstring("csi.volume."+parent.UUID())), "its journal")
		ofClone := []string{clone.UUID(), clone.ID}
		Expect(before.About(ofClone...).Without(parent.UUID(), parent.ID).Changes(after.About(ofClone...).Without(parent.UUID(), parent.ID))).To(BeEmpty())

		// With the clone gone, the mgr removes the parent some time, or the next run at once.
		Expect(clone.Delete()).To(Succeed())
		for _, c := range []*volumes.Cluster{b, a} {
			Eventually(func() int { return teardown(ctx, c.InfraID).code }).WithContext(ctx).WithTimeout(limit).Should(Equal(0))
		}
		// The mgr may be in the middle of one, and forgets its task when it finds no image any more.
		Eventually(func() []string {
			words := slices.Concat(a.Words(), b.Words(), []string{a.InfraID, b.InfraID})
			return slices.DeleteFunc(volumes.Dump{}.Changes(dump().About(words...)), func(line string) bool { return strings.Contains(line, "rbd_task") })
		}).WithContext(ctx).WithTimeout(limit).Should(BeEmpty())
	})
}

// connect makes a cephx user and connects as it, until the spec ends.
func connect(ctx context.Context, user string, caps ...string) *rados.Conn {
	GinkgoHelper()
	if len(caps) == 0 {
		caps = []string{"mon", "allow r"}
	}
	keyring := must(daemons.Command(ctx, append([]string{"auth", "get-or-create", "client." + user}, caps...)...))
	source := must(tags.ParseSource(ctx, map[string][]byte{
		tags.EntryConf: []byte(daemons.Conf()), tags.EntryKeyring: keyring,
	}, func(ctx context.Context, host string) ([]netip.Addr, error) {
		return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	}))
	conn := must(rados.Dial(ctx, source, rados.Options{}))
	DeferCleanup(conn.Close)
	DeferCleanup(func(ctx SpecContext) error {
		_, err := daemons.Command(ctx, "auth", "rm", "client."+user)
		return err
	})
	return conn
}

// cephxUsers are the names of all.
func cephxUsers(ctx context.Context) []string {
	GinkgoHelper()
	var out []string
	for line := range strings.Lines(string(must(daemons.Command(ctx, "auth", "ls")))) {
		if strings.HasPrefix(line, "client.") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}
