package teardown

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

// kills is how many runs are killed, each at a moment of its own.
const kills = 20

var (
	// chains are clones and snapshots with deleted parents.
	chains = []row{imageRows[6], imageRows[8]}
	// shown is a snapshot that a volume shows. Every run reads all subvolumes, one by one: few clusters
	// have any.
	shown = []row{imageRows[0], subvolumeRows[4]}
)

func interruptions() {
	It("goes on after a kill at any moment", func(ctx SpecContext) {
		seed := uint64(GinkgoRandomSeed())
		AddReportEntry("seed of the moments: ginkgo.seed", fmt.Sprint(seed))
		random := rand.New(rand.NewPCG(seed, 0))
		bystander := ceph.Cluster("watching-x1y2z", 3)
		clusters := []*volumes.Cluster{ceph.Cluster("measured", 3)}
		for n := range kills {
			clusters = append(clusters, ceph.Cluster(fmt.Sprintf("killed-%d", n), 3))
		}
		works := rowsOf(bystander, slices.Concat(chains, shown))
		for n, c := range clusters {
			works = append(works, rowsOf(c, [][]row{shown, chains, chains, chains}[n%4])...)
		}
		together(works...)
		before := dump()

		// Whoever reads first what was written a moment ago waits for it: that is no part of a run.
		Expect(teardown(ctx, clusters[0].InfraID, "--dry-run").code).To(Equal(0))
		begin := time.Now()
		Expect(teardown(ctx, clusters[0].InfraID).code).To(Equal(0))
		whole := time.Since(begin)
		// Half of them are not killed before they remove. They come last: whoever dies while it has
		// a filesystem mounted keeps the next one that removes waiting for a minute.
		for n, c := range clusters[1:] {
			removing := n >= kills/2
			moment := time.Duration(random.Int64N(int64(whole)))
			if removing {
				moment /= 2
			}
			kill(ctx, c.InfraID, moment, removing)
		}
		for _, c := range clusters {
			Eventually(func() int { return teardown(ctx, c.InfraID).code }).
				WithContext(ctx).WithTimeout(2*limit).Should(Equal(0), c.InfraID)
		}
		after := dump()
		var words []string
		for _, c := range clusters {
			expectNothingOf(after, c)
			words = append(words, c.Words()...)
		}
		Expect(before.Without(words...).Changes(after.Without(words...))).To(BeEmpty())
	})

	for _, daemon := range []string{"ceph-mgr.x", "ceph-osd.0"} {
		It("goes on when "+daemon+" is restarted in the middle", func(ctx SpecContext) {
			a, b := ceph.Cluster("restarted-"+daemon, 1), ceph.Cluster("other-"+daemon, 2)
			rows := slices.Concat(chains, shown)
			together(append(rowsOf(a, rows), rowsOf(b, rows)...)...)
			before := dump()
			done := make(chan error, 1)
			go func() { done <- daemons.Restart(ctx, daemon) }()
			// While nobody answers, it may end without having removed anything.
			Eventually(func() int { return run(ctx, "--infra-id="+a.InfraID, "--yes").code }).
				WithContext(ctx).WithTimeout(2 * limit).Should(Equal(0))
			Eventually(done).WithContext(ctx).WithTimeout(limit).Should(Receive(BeNil()))
			after := dump()
			expectNothingOf(after, a)
			Expect(before.Without(a.Words()...).Changes(after.Without(a.Words()...))).To(BeEmpty())
		})
	}
}

// kill starts a teardown and kills it after a while, from its start or from when it begins to
// remove, if it has not ended by then.
func kill(ctx context.Context, infraID string, after time.Duration, removing bool) {
	GinkgoHelper()
	cmd := command(ctx, "--infra-id="+infraID, "--yes")
	progress, err := cmd.StderrPipe()
	Expect(err).NotTo(HaveOccurred())
	Expect(cmd.Start()).To(Succeed())
	begun, ended := make(chan struct{}), make(chan struct{})
	go func() {
		lines := bufio.NewScanner(progress)
		if lines.Scan() {
			close(begun)
		}
		for lines.Scan() {
		}
		_ = cmd.Wait()
		close(ended)
	}()
	if removing {
		select {
		case <-begun:
		case <-ended:
		}
	}
	select {
	case <-time.After(after):
	case <-ended:
	}
	_ = cmd.Process.Kill()
	<-ended
	AddReportEntry(fmt.Sprintf("%s: killed after %s, removing %t, %s", infraID, after, removing, cmd.ProcessState))
}
