package check

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

func nothingWrong() {
	It("ends with 0, and leaves Ceph and Kubernetes as they were", func(ctx SpecContext) {
		// The mgr itself changes pools for a while after they are made, and looks each minute whether to.
		for _, pool := range strings.Fields(string(ceph(ctx, "osd", "pool", "ls"))) {
			ceph(ctx, "osd", "pool", "set", pool, "pg_autoscale_mode", "off")
		}
		Eventually(func(g Gomega) {
			before := cephState(ctx)
			g.Consistently(func() string { return cephState(ctx) }, fixture.Undisturbed, time.Second).Should(Equal(before))
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
		before, since := cephState(ctx), time.Now()
		r := report(ctx, append(admin(), kubeconfig())...)
		Expect(r.wrong()).To(BeEmpty())
		Expect(r.code).To(Equal(0))
		Expect(r.Result).To(Equal("ok"))
		Expect(r.stderr).To(BeEmpty())
		for _, l := range r.Lines {
			Expect(l.State).To(Or(Equal("ok"), Equal("note")), l.Group+"/"+l.Name+": "+l.Message)
		}
		Expect(r.line("RBD", "pool").Message).To(ContainSubstring("the operator makes it"))
		Expect(r.line("CephFS", "subvolume group").Message).To(ContainSubstring("the operator makes it"))
		Expect(r.line("Kubernetes", "Secret ceph-credentials").Fix).To(ConsistOf(HavePrefix("oc create secret generic ceph-credentials")))
		Expect(r.line("Mons", "quorum").Message).To(Equal("3 mons: a, b, c"))

		Expect(cephState(ctx)).To(Equal(before), "the check has changed something in Ceph")
		requests := ofCheck(since)
		Expect(requests).NotTo(BeEmpty(), "the audit log does not have the check")
		Expect(fixture.Lines(fixture.Writes(requests))).To(BeEmpty(), "the check has written to the API server")
	})

	It("prints a table for people", func(ctx SpecContext) {
		r := run(ctx, append(admin(), "--pool=vms")...)
		Expect(r.code).To(Equal(0), r.stdout)
		for _, want := range []string{"Files\n", "Mons\n", "Ceph\n", "User\n", "RBD\n", "CephFS\n", "vms exists, for application rbd", "\nNothing is wrong, "} {
			Expect(r.stdout).To(ContainSubstring(want))
		}
		Expect(r.stdout).NotTo(ContainSubstring("Kubernetes"), "no kubeconfig is given")
	})
}

// watching shows the cluster until Ctrl-C.
func watching() {
	It("follows what changes, changes nothing, and ends with 0 on Ctrl-C", func(ctx SpecContext) {
		name := filepath.Join(GinkgoT().TempDir(), "shown")
		file, err := os.Create(name)
		Expect(err).NotTo(HaveOccurred())
		defer file.Close()
		cmd := exec.CommandContext(ctx, binary, append([]string{"check", "--watch", kubeconfig()}, admin()...)...)
		cmd.Env = []string{"TMPDIR=" + GinkgoT().TempDir()}
		cmd.Stdout, cmd.Stderr = file, GinkgoWriter
		since := time.Now()
		Expect(cmd.Start()).To(Succeed())
		shows := func(lines ...string) {
			GinkgoHelper()
			for _, line := range lines {
				Eventually(func() string { return read(name) }).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(MatchRegexp("(?m)^" + line + "$"))
			}
		}
		shows(`Ceph +`+env.Cluster.Ceph().FSID()+` answers as client.admin, release .*`,
			`Mons +3 of 3 in quorum, epoch \d+: a, b, c`, `(Pools)? +vms +\[\.{20}\]   0 %  .* stored, .*iB available`,
			`RBD +there is no ClusterCSIDriver rbd.csi.ceph.com`, `CephFS +there is no ClusterCSIDriver cephfs.csi.ceph.com`, `Events +none`)
		events := env.Kube.CoreV1().Events(driver.Namespace)
		_, err = events.Create(ctx, &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Name: "watched"}, Reason: "Watched", Message: "by a person",
			InvolvedObject: corev1.ObjectReference{Kind: "Deployment", Namespace: driver.Namespace, Name: driver.RBD.OperatorName()},
			LastTimestamp:  metav1.Now(),
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(events.Delete, "watched", metav1.DeleteOptions{})
		shows(`Events +[\d:]+  Watched deployment ` + driver.RBD.OperatorName() + `: by a person`)
		Expect(cmd.Process.Signal(os.Interrupt)).To(Succeed())
		Expect(cmd.Wait()).To(Succeed())
		shown := read(name)
		for _, key := range keys {
			Expect(shown).NotTo(ContainSubstring(key[4:30]), "a key is shown")
		}
		Expect(shown).NotTo(ContainSubstring("\x1b"), "nobody draws in a file")
		Expect(fixture.Lines(fixture.Writes(ofCheck(since)))).To(BeEmpty())
	})
}

// cephState is everything that a write to the mons would change: the epochs of the maps, the
// users, and the pools with their flags.
func cephState(ctx context.Context) string {
	GinkgoHelper()
	var all strings.Builder
	for _, command := range [][]string{{"osd", "dump"}, {"auth", "ls"}, {"fs", "dump"}, {"mon", "dump"}, {"config", "dump"}} {
		all.Write(ceph(ctx, append(command, "--format", "json")...))
	}
	return all.String()
}

// ceph runs a command as the administrator.
func ceph(ctx context.Context, arguments ...string) []byte {
	GinkgoHelper()
	out, err := env.Cluster.Ceph().Command(ctx, arguments...)
	Expect(err).NotTo(HaveOccurred())
	return out
}

// ofCheck are the requests that the command has made since a moment.
func ofCheck(since time.Time) []auditv1.Event {
	GinkgoHelper()
	file, err := os.Open(env.Cluster.AuditLog())
	Expect(err).NotTo(HaveOccurred())
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	var out []auditv1.Event
	for lines.Scan() {
		var event auditv1.Event
		if json.Unmarshal(lines.Bytes(), &event) != nil || event.RequestReceivedTimestamp.Time.Before(since) {
			continue
		}
		Expect(event.ResponseStatus == nil || event.ResponseStatus.Code != http.StatusForbidden).To(BeTrue(), event.RequestURI)
		if strings.HasPrefix(event.UserAgent, "ceph-csi-driver-operator/") {
			out = append(out, event)
		}
	}
	Expect(lines.Err()).NotTo(HaveOccurred())
	return out
}
