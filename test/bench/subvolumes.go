package main

import (
	"context"
	"fmt"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

// How many subvolumes are torn down, and how many the loop removes, from which all are extrapolated.
const (
	subvolumes       = 200
	subvolumesSample = 10
)

// tornSubvolumes measures how many times faster `teardown` is, finding included, than a loop of
// `ceph fs subvolume rm`, both on the same Ceph, one after the other.
func (b *bench) tornSubvolumes(ctx context.Context, _ driver.Driver) (float64, error) {
	names, err := b.layOutSubvolumes()
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	for _, name := range names {
		line := "ceph fs subvolume rm " + cephdaemons.Filesystem + " " + name + " --group_name csi"
		if out, err := b.cluster.Ceph().Shell(ctx, line).CombinedOutput(); err != nil {
			return 0, fmt.Errorf("%s: %w: %s", line, err, out)
		}
	}
	per := time.Since(begin) / subvolumesSample
	begin = time.Now()
	if err := b.tearDown(ctx, "--filesystem="+cephdaemons.Filesystem); err != nil {
		return 0, err
	}
	torn := time.Since(begin)
	fmt.Fprintf(b.progress, "teardown of %d subvolumes: %s, %s each; the loop: %s each, extrapolated from %d\n",
		subvolumes, torn, torn/subvolumes, per, subvolumesSample)
	return float64(per) * subvolumes / float64(torn), nil
}

// layOutSubvolumes makes those that are torn down, and returns the names of those that the loop
// removes.
func (b *bench) layOutSubvolumes() ([]string, error) {
	admin, err := volumes.Open(b.cluster.Ceph().ConfFile(), b.cluster.Ceph().KeyringFile())
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	class := volumes.FileClass{Filesystem: cephdaemons.Filesystem}
	if err := admin.Group(class); err != nil {
		return nil, err
	}
	torn, looped := admin.Cluster(tornID, 1), admin.Cluster(loopID, 1)
	names := make([]string, subvolumesSample)
	return names, volumes.Parallel(subvolumes+subvolumesSample, func(i int) error {
		if i < subvolumes {
			_, err := torn.Subvolume(class, fmt.Sprint("claim-", i))
			return err
		}
		v, err := looped.Subvolume(class, fmt.Sprint("claim-", i))
		if err == nil {
			names[i-subvolumes] = v.Name
		}
		return err
	})
}
