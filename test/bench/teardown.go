package main

import (
	"context"
	"fmt"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

const (
	teardownPool = "bench-teardown"
	// tornID is the cluster that is torn down, loopID the one whose volumes a loop of Ceph's tools
	// removes.
	tornID = "bench-torn"
	loopID = "bench-loop"
)

// belongings is what a cluster leaves behind, one of which is laid out by lay. It returns the
// images in the order in which a loop can remove them.
type belongings struct {
	n int
	// sample is how many of them the loop removes; from these, all are extrapolated.
	sample int
	lay    func(c *volumes.Cluster, claim string) ([]string, error)
	// looks says that the loop also reads each image's tag: finding what belongs to a cluster.
	looks bool
}

var small = volumes.Class{Place: volumes.Place{Pool: teardownPool}, Features: volumes.Layering, Bytes: 64 << 20}

var plainImages = belongings{n: 1000, sample: 60, looks: true, lay: func(c *volumes.Cluster, claim string) ([]string, error) {
	image, err := c.Image(small, claim)
	if err != nil {
		return nil, err
	}
	return []string{image.Name}, nil
}}

var clonedImages = belongings{n: 200, sample: 8, lay: func(c *volumes.Cluster, claim string) ([]string, error) {
	parent, err := c.Image(small, claim)
	if err != nil {
		return nil, err
	}
	clone, err := c.CloneImage(parent, "clone-of-"+claim)
	if err != nil {
		return nil, err
	}
	return []string{clone.Name, clone.Temp(), parent.Name}, nil
}}

// tornDown measures how many times faster `teardown` is than a loop of Ceph's own tools, both on
// the same Ceph, one after the other.
func (b *bench) tornDown(what belongings) func(context.Context, driver.Driver) (float64, error) {
	return func(ctx context.Context, _ driver.Driver) (float64, error) {
		cluster := b.cluster.Ceph()
		if err := cluster.CreatePool(ctx, teardownPool, "rbd"); err != nil {
			return 0, err
		}
		images, err := b.layOut(ctx, what)
		if err != nil {
			return 0, err
		}
		loop, err := b.loop(ctx, what, images)
		if err != nil {
			return 0, err
		}
		begin := time.Now()
		if err := b.tearDown(ctx, "--pool="+teardownPool); err != nil {
			return 0, err
		}
		torn := time.Since(begin)
		per := loop / time.Duration(what.sample)
		fmt.Fprintf(b.progress, "teardown of %d: %s, %s each; the loop: %s each, extrapolated from %d\n", what.n, torn, torn/time.Duration(what.n), per, what.sample)
		_, err = cluster.Command(ctx, "osd", "pool", "rm", teardownPool, teardownPool, "--yes-i-really-really-mean-it")
		return float64(per) * float64(what.n) / float64(torn), err
	}
}

// tearDownLimit is far above what any teardown takes here.
const tearDownLimit = 15 * time.Minute

// tearDown runs the command on the cluster that is torn down.
func (b *bench) tearDown(ctx context.Context, where string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, tearDownLimit, fmt.Errorf("it hung: killed after %s", tearDownLimit))
	defer cancel()
	_, err := process.Output(ctx, b.options.binary, "teardown", "--infra-id="+tornID, "--unclaimed", "--yes", where,
		"--ceph-conf="+b.cluster.Ceph().ConfFile(), "--keyring="+b.cluster.Ceph().KeyringFile())
	return err
}

// layOut makes what is torn down and what the loop removes; it returns the latter's images.
func (b *bench) layOut(ctx context.Context, what belongings) ([][]string, error) {
	admin, err := volumes.Open(b.cluster.Ceph().ConfFile(), b.cluster.Ceph().KeyringFile())
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	if err := admin.Hurry(); err != nil {
		return nil, err
	}
	torn, looped := admin.Cluster(tornID, 1), admin.Cluster(loopID, 1)
	images := make([][]string, what.sample)
	err = volumes.Parallel(what.n+what.sample, func(i int) error {
		if i >= what.n {
			names, err := what.lay(looped, fmt.Sprint("claim-", i))
			images[i-what.n] = names
			return err
		}
		_, err := what.lay(torn, fmt.Sprint("claim-", i))
		return err
	})
	if err != nil {
		return nil, err
	}
	// As usual again: the mons collect changes for a second.
	_, err = b.cluster.Ceph().Command(ctx, "config", "rm", "mon", "paxos_propose_interval")
	return images, err
}

// loop removes images as a script would.
func (b *bench) loop(ctx context.Context, what belongings, images [][]string) (time.Duration, error) {
	rbd := func(arguments ...string) error {
		_, err := b.cluster.Ceph().RBD(ctx, arguments...)
		return err
	}
	begin := time.Now()
	for _, names := range images {
		for _, name := range names {
			path := teardownPool + "/" + name
			if what.looks {
				if err := rbd("image-meta", "get", path, ceph.TagCluster); err != nil {
					return 0, err
				}
			}
			if err := rbd("rm", "--no-progress", path); err != nil {
				return 0, err
			}
		}
	}
	return time.Since(begin), nil
}
