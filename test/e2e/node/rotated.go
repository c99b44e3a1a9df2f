package node

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// renewed is within a minute, as pkg/credentials/README.md promises, and what follows.
const renewed = time.Minute + fixture.Patience

// Rotated has other keys for the drivers.
func Rotated() {
	It("has new keys for deleted Ceph users, with which volumes are made and mounted, while block devices live", func(ctx SpecContext) {
		before := keys(ctx, Default)
		restarted := restarts(ctx)
		lives := claimed{name: "lives", class: driver.RBD.StorageClass}
		claim(ctx, lives)
		writer := create(ctx, lives, nodes[0], "append", file)
		expectRunning(ctx, writer)
		expectWriting(ctx, writer) // It has sessions with all daemons by then.
		// A mount of CephFS hangs as soon as its client connects to the mons anew, seen 11 s and 50 s after the deletion.
		end(ctx, shared.name+"-"+nodes[1])
		steady(ctx)
		infrastructure, err := env.Configs.Infrastructures().Get(ctx, "cluster", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		begin, id := time.Now(), infrastructure.Status.InfrastructureName
		for _, d := range driver.All {
			for _, user := range []string{d.ProvisionerUser(id), d.NodeUser(id)} {
				_, err := env.Cluster.Ceph().Command(ctx, "auth", "rm", "client."+user)
				Expect(err).NotTo(HaveOccurred())
			}
		}
		Eventually(func(g Gomega) {
			for secret, key := range keys(ctx, g) {
				g.Expect(key == before[secret]).To(BeFalse(), secret)
			}
		}).WithContext(ctx).WithTimeout(renewed).Should(Succeed())
		figure("all four keys are other ones in the Secrets", begin)
		// What is mounted with the old keys has to be mounted anew, as pkg/credentials/README.md says.
		expectWriting(ctx, writer)
		end(ctx, writer, image.name+"-"+nodes[1], block.name+"-"+nodes[1])
		stay := []claimed{image, block, shared}
		var again []string
		for _, c := range append(stay, lives) {
			again = append(again, create(ctx, c, nodes[1], "hold"))
		}
		expectRunning(ctx, again...)
		end(ctx, again[len(stay):]...)
		begin = time.Now()
		forBoth(func(d driver.Driver) {
			c := claimed{name: "after-" + d.Kind, class: d.StorageClass}
			claim(ctx, c)
			pod := hold(ctx, c, nodes[0])
			figure(d.Kind+" volume mounted with new keys", begin)
			do(ctx, pod, "write", file, mebibyte, c.name)
			end(ctx, pod)
		})
		Expect(restarts(ctx)).To(Equal(restarted))
	})
}

// steady has mons keep the sessions of clients, also of those whose keys are gone, who cannot begin others:
// whoever asks for the size of such a CephFS, as the kubelet does, waits for ever, and it cannot be unmounted.
// Mons that are out of quorum for two leases drop all sessions, and tests have short leases and a busy machine.
func steady(ctx context.Context) {
	GinkgoHelper()
	configure := func(ctx context.Context, arguments ...string) {
		_, err := env.Cluster.Ceph().Command(ctx, append([]string{"tell", "mon.*", "config"}, arguments...)...)
		Expect(err).NotTo(HaveOccurred())
	}
	configure(ctx, "set", "mon_lease", "60")
	DeferCleanup(func(ctx SpecContext) { configure(ctx, "unset", "mon_lease") })
}

// keys are those of the drivers' Ceph users, by their Secrets.
func keys(ctx context.Context, g Gomega) map[string]string {
	GinkgoHelper()
	out := map[string]string{}
	for _, d := range driver.All {
		for _, name := range []string{d.ProvisionerSecret(), d.NodeSecret()} {
			secret, err := env.Kube.CoreV1().Secrets(driver.Namespace).Get(ctx, name, metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(secret.Data).To(HaveKey("userKey"), name)
			out[name] = string(secret.Data["userKey"])
		}
	}
	return out
}
