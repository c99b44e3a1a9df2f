package pools

import (
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

// keepData keeps the claims that the cluster has on pools where snapshots may have data, for as long
// as there are snapshots. Nobody else remembers the data pool of a volume that is gone.
func (l *look) keepData(wanted map[int64]wishes) {
	taken := func(place usage.Place) bool { return place.Snapshots > 0 }
	if !slices.ContainsFunc(l.usage.In(l.cluster), taken) && !slices.ContainsFunc(l.usage.Others, taken) {
		return
	}
	for _, id := range l.Driver.Storage.Untold(l.has) {
		p, _ := byID(l.has.Pools, id)
		switch read(p, l.user).own {
		case driver.ClaimInUse, driver.ClaimUnprotected:
			wanted[id] = kept
		case driver.ClaimOthers:
			wanted[id] = max(wanted[id], held)
		}
	}
}
