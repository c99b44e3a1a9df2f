package shared

import (
	"context"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

const metadataPool = cephdaemons.Filesystem + "-metadata"

// as runs a program of Ceph's as a user that an operator has made.
func (c *openShift) as(ctx context.Context, id, program string, arguments ...string) (string, error) {
	GinkgoHelper()
	keyring := filepath.Join(GinkgoT().TempDir(), "keyring")
	Expect(os.WriteFile(keyring, []byte("[client."+id+"]\n\tkey = "+c.users(ctx, Default)[id].Key+"\n"), 0o600)).To(Succeed())
	cmd, err := one.Cluster.Ceph().Program(ctx, program, append([]string{"--conf", one.Cluster.Ceph().ConfFile(), "--keyring", keyring, "--id", id}, arguments...)...)
	Expect(err).NotTo(HaveOccurred())
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// files are on one filesystem, which both clusters use.
func files() {
	It("has a subvolume group and a journal of its own, where its users are made", func(ctx SpecContext) {
		for _, c := range both() {
			entries := c.ConfigJSON(ctx, Default, driver.CephFS)
			Expect(entries).To(HaveLen(1))
			Expect(entries[0].CephFS.SubvolumeGroup).To(Equal(c.infraID))
			Expect(entries[0].CephFS.RadosNamespace).To(Equal(c.infraID))
			_ = ceph(ctx, "fs", "subvolumegroup", "getpath", cephdaemons.Filesystem, c.infraID)
		}
	})

	It("reaches no file of the other's", func(ctx SpecContext) {
		for _, c := range both() {
			name := "of-" + c.infraID
			out, err := c.as(ctx, driver.CephFS.ProvisionerUser(c.infraID), "ceph", "fs", "subvolume", "create", cephdaemons.Filesystem, name, c.infraID)
			Expect(err).NotTo(HaveOccurred(), out)
			out, err = c.as(ctx, driver.CephFS.ProvisionerUser(c.infraID), "rados", "-p", metadataPool, "--namespace", c.infraID, "create", "csi.volume."+name)
			Expect(err).NotTo(HaveOccurred(), out)
		}
		for _, pair := range [][2]*openShift{{one, other}, {other, one}} {
			c, theirs := pair[0], pair[1].infraID
			name := "of-" + theirs
			for _, id := range []string{driver.CephFS.ProvisionerUser(c.infraID), driver.CephFS.NodeUser(c.infraID)} {
				for _, command := range [][]string{
					{"info", cephdaemons.Filesystem, name, theirs},
					{"getpath", cephdaemons.Filesystem, name, theirs},
					{"create", cephdaemons.Filesystem, "intruder", theirs},
					{"snapshot", "create", cephdaemons.Filesystem, name, "s", theirs},
					{"rm", cephdaemons.Filesystem, name, theirs},
				} {
					out, err := c.as(ctx, id, "ceph", append([]string{"fs", "subvolume"}, command...)...)
					Expect(err).To(HaveOccurred(), "%s: %v", id, command)
					Expect(out).To(ContainSubstring("EACCES"), "%s: %v", id, command)
				}
				for _, command := range [][]string{{"ls"}, {"rm", "csi.volume." + name}, {"create", "x"}} {
					out, err := c.as(ctx, id, "rados", append([]string{"-p", metadataPool, "--namespace", theirs}, command...)...)
					Expect(err).To(HaveOccurred(), "%s: %v: %s", id, command, out)
				}
			}
			Expect(c.users(ctx, Default)[driver.CephFS.NodeUser(c.infraID)].Caps).To(HaveKeyWithValue("mds",
				"allow rw fsname="+cephdaemons.Filesystem+" path=/volumes/"+c.infraID), "what nodes mount")
		}
	})
}
