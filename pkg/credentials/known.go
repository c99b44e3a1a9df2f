package credentials

import (
	"context"
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// meant leaves out what StorageClasses name by mistake, as pkg/pools does, which writes no claim there.
func (c *Controller) meant(has driver.Inventory, places []driver.Used) []driver.Used {
	return slices.DeleteFunc(slices.Clone(places), func(p driver.Used) bool {
		return p.Named && driver.Mistaken(c.Driver.Storage, has, p.Placement)
	})
}

// known is what Ceph itself knows of places in use; it is complete where it could be asked.
type known struct {
	places   []driver.Used
	complete bool
	// failed says that they could not be looked for.
	failed bool
}

// known finds what the API server may have lost: volumes with the cluster's tag, in pools with its claim.
// Where a pool in use has no claim, as without the right to write one, the pools to look into are not
// known. What cannot be read may be in use.
func (c *Controller) known(ctx context.Context, cluster Ceph, has driver.Inventory, claim string, in input) known {
	var claimed []int64
	for _, p := range has.Pools {
		if driver.GivesRight(p, claim) {
			claimed = append(claimed, p.ID)
		}
	}
	for _, place := range in.places {
		for _, id := range c.Driver.Storage.Holding(has, place.Placement, place.IDs) {
			if !slices.Contains(claimed, id) {
				return known{}
			}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, searchDeadline)
	defer cancel()
	found, err := c.Driver.Storage.Tagged(ctx, cluster, has, in.infraID, claimed)
	if err != nil {
		return known{failed: true}
	}
	out := known{complete: true}
	for _, place := range found {
		place.FSID, place.SubvolumeGroup, place.JournalNamespace = in.cluster.FSID, in.placement.SubvolumeGroup, in.placement.JournalNamespace
		out.places = append(out.places, place.Used)
	}
	return out
}
