package shared

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

const (
	// noRollout is far above the two minutes for which operators of one cluster may be seen side by side.
	noRollout = 6 * time.Minute
	// buried is far above the half a minute for which Ceph counts the dead, and a removal.
	buried = 4 * time.Minute
)

// torn is what a teardown says.
type torn struct {
	code    int
	Running []string
	Items   []struct{ Name, Verdict, Reason string }
}

func teardown(ctx context.Context, infraID string, arguments ...string) torn {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, buried)
	defer cancel()
	binary, err := operatorprocess.Binary()
	Expect(err).NotTo(HaveOccurred())
	daemons := one.Cluster.Ceph()
	cmd := exec.CommandContext(ctx, binary, append([]string{"teardown", "-o", "json", "--infra-id=" + infraID,
		"--ceph-conf=" + daemons.ConfFile(), "--keyring=" + daemons.KeyringFile()}, arguments...)...)
	cmd.Env = []string{"TMPDIR=" + GinkgoT().TempDir()}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run()
	var t torn
	Expect(json.Unmarshal(out.Bytes(), &t)).To(Succeed(), out.String()+errs.String())
	t.code = cmd.ProcessState.ExitCode()
	return t
}

func (t torn) named(verdict string) map[string]string {
	out := map[string]string{}
	for _, i := range t.Items {
		if i.Verdict == verdict {
			out[i.Name] = i.Reason
		}
	}
	return out
}

// shares waits until the operators say that another cluster has their infra ID.
func (c *openShift) shares(ctx context.Context) {
	GinkgoHelper()
	for _, d := range driver.All {
		Eventually(func(g Gomega) {
			said := c.Condition(ctx, g, d, "InfraIDUnshared")
			g.Expect(said.Status).To(Equal(operatorv1.ConditionFalse))
			g.Expect(said.Reason).To(Equal("InfraIDShared"))
			g.Expect(said.Message).To(And(ContainSubstring(c.infraID), ContainSubstring("the operator of "+d.Name+" on host "), ContainSubstring(" at 127.0.0.1 since ")))
		}).WithContext(ctx).WithTimeout(noRollout).Should(Succeed())
	}
}

// twins are a cluster and its copy, beside a third one.
func twins() {
	var twin *openShift
	var csi *volumes.Ceph
	var doomed *volumes.Cluster
	filesOf := func(infraID string) volumes.FileClass {
		return volumes.FileClass{Filesystem: cephdaemons.Filesystem, Group: infraID, Namespace: infraID}
	}
	imagesOf := func(infraID string) volumes.Class {
		return volumes.Class{Place: volumes.Place{Pool: infraID + "-rbd"}, Features: volumes.Layering}
	}
	dump := func() volumes.Dump {
		GinkgoHelper()
		d, err := csi.Dump([]string{one.infraID + "-rbd", other.infraID + "-rbd"}, cephdaemons.Filesystem)
		Expect(err).NotTo(HaveOccurred())
		return d
	}

	BeforeAll(func(ctx SpecContext) {
		twin = &openShift{infraID: one.infraID}
		twin.Environment = fixture.Start(ctx, embedded.Options{InfrastructureName: one.infraID, WithoutCeph: true})
		twin.KeepSecret(fixture.KeysOf(one.Cluster.Ceph().Keyring())...)
		twin.Declare(ctx, one.Credentials())
		for _, d := range driver.All {
			twin.CreateDriver(ctx, d)
			twin.StartOperator(ctx, d)
		}
		var err error
		csi, err = volumes.Open(one.Cluster.Ceph().ConfFile(), one.Cluster.Ceph().KeyringFile())
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { csi.Close() })
		doomed = csi.Cluster(one.infraID, 1)
		for _, c := range []*volumes.Cluster{doomed, csi.Cluster(other.infraID, 2)} {
			_, err := c.Image(imagesOf(c.InfraID), "block")
			Expect(err).NotTo(HaveOccurred())
			_, err = c.Subvolume(filesOf(c.InfraID), "files")
			Expect(err).NotTo(HaveOccurred())
		}
	})

	It("both say so, and a third one does not", func(ctx SpecContext) {
		one.shares(ctx)
		twin.shares(ctx)
		for _, d := range driver.All {
			for _, c := range other.Conditions(ctx, Default, d) {
				Expect(c.Type).NotTo(Equal("InfraIDUnshared"))
			}
		}
	})

	It("are not torn down while one of them lives", func(ctx SpecContext) {
		before := dump()
		r := teardown(ctx, one.infraID, "--yes", "--force")
		Expect(r.code).To(Equal(3))
		Expect(r.Running).To(HaveLen(4), "two operators of two clusters")
		Expect(r.named("remove")).To(BeEmpty())
		Expect(r.named("refuse")).To(ContainElement(And(ContainSubstring("the cluster lives"), ContainSubstring("127.0.0.1"), ContainSubstring("--force-living="+one.infraID))))
		for _, d := range driver.All {
			Expect(one.Operator(d).Stop(ctx)).To(Succeed())
		}
		r = teardown(ctx, one.infraID, "--yes")
		Expect(r.code).To(Equal(3))
		Expect(r.Running).To(HaveLen(2), "who stops is not counted any more")
		Expect(before.Changes(dump())).To(BeEmpty())
	})

	It("are torn down once both were killed, and the third one's are bit for bit what they were", func(ctx SpecContext) {
		before := dump()
		for _, d := range driver.All {
			twin.Operator(d).Kill()
			DeferCleanup(one.Operator(d).Restart)
			DeferCleanup(twin.Operator(d).Restart)
		}
		killed := time.Now()
		r := teardown(ctx, one.infraID, "--yes")
		AddReportEntry("teardown after a kill", time.Since(killed).String())
		Expect(r.code).To(Equal(0), "%+v", r)
		Expect(r.Running).To(BeEmpty())
		after := dump()
		Expect(after.About(doomed.Words()...)).To(BeEmpty(), "volumes of the one")
		Expect(after.About("running."+one.infraID)).To(BeEmpty(), "what its operators watched")
		both := append(doomed.Words(), one.infraID)
		// Only the claim of the one is gone from pools that they share.
		claims := func(change string) bool { return strings.HasPrefix(change, "! pool "+cephdaemons.Filesystem+"-") }
		Expect(slices.DeleteFunc(before.Without(both...).Changes(after.Without(both...)), claims)).To(BeEmpty())
		for _, pool := range []string{cephdaemons.Filesystem + "-metadata", cephdaemons.Filesystem + "-data"} {
			has(ctx, pool, true, "", other.infraID+".cephfs")
		}
		Expect(teardown(ctx, other.infraID, "--dry-run").code).To(Equal(3), "the third one lives")
	})
}
