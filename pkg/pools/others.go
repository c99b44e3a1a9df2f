package pools

import (
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

// othersPools are the pools of what other CSI drivers hold. Their clusterIDs are often names that mean
// nothing here, such as a namespace of Rook's: these are of this Ceph cluster where their pools are.
func (l *look) othersPools() []int64 {
	clusters, _ := l.Clusters.Get()
	var out []int64
	for _, place := range l.usage.Others {
		known := ceph.IsFSID(place.FSID) || slices.ContainsFunc(clusters, place.IsIn)
		if place.IsIn(l.cluster) || !known && l.fits(place.FSID) && l.matches(place) {
			out = append(out, l.Driver.Storage.Holding(l.has, place.Placement, place.IDs)...)
		}
	}
	return out
}

// matches says that names and IDs of a place are those of the same pools here. Every Ceph cluster has
// a pool with ID 1.
func (l *look) matches(place usage.Place) bool {
	unnamed := place.Pool == "" && place.Filesystem == ""
	if unnamed || len(place.IDs) == 0 {
		return true
	}
	var bare ceph.Placement
	named := l.Driver.Storage.Holding(l.has, place.Placement, nil)
	byID := l.Driver.Storage.Holding(l.has, bare, place.IDs)
	return slices.ContainsFunc(named, func(id int64) bool { return slices.Contains(byID, id) })
}

// fits says that a clusterID may be this Ceph cluster's: it is not, where every place of it that has
// a name lies elsewhere. Snapshots have no names of their own.
func (l *look) fits(clusterID string) bool {
	named, matching := false, false
	for _, place := range l.usage.Others {
		if place.FSID == clusterID && place.Pool+place.Filesystem != "" && len(place.IDs) > 0 {
			named, matching = true, matching || l.matches(place)
		}
	}
	return matching || !named
}
