package pools

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// input is everything that says where volumes of the default StorageClass belong. A place of
// which nothing is known is empty.
type input struct {
	// fsid of the Ceph cluster; empty until it answered for the first time.
	fsid     string
	settings driver.Settings
	// class is the place that our StorageClass names, recorded the one that was chosen last.
	class, recorded ceph.Placement
	// volumes are the places of the driver's PersistentVolumes.
	volumes map[ceph.Placement]int
	infraID string
	// held: the settings name another subvolume group, and something may lie in the one in use.
	held bool
	// unseen is why that is not known.
	unseen error
	// config is what config.json has by now; users says whether the driver works with users of its own, and
	// is nil while that is not known.
	config []ceph.ConfigEntry
	users  *bool
}

// claim is that of the place.
func (in input) claim() wishes {
	if !in.settings.ProtectsPools() {
		return used
	}
	return kept
}

// own is the pool that is named after the OpenShift cluster: several of them may share a Ceph cluster.
func (in input) own(d driver.Driver) string { return in.infraID + "-" + d.Kind }

// source is one answer to the question where volumes go.
type source struct {
	place  ceph.Placement
	origin string
}

// wish finds who named the place, best first: the settings, our StorageClass, the record, the
// volumes. So a pool that appears later never moves the class. What was chosen for another
// Ceph cluster does not count.
func wish(d driver.Driver, in input) driver.Wish {
	settings := in.settings.Placement()
	settings.FSID = in.fsid
	field := "pool"
	if settings.Filesystem != "" {
		field = "filesystem"
	}
	chosen := source{}
	for _, s := range []source{
		{settings, fmt.Sprintf("spec.driverConfig.ceph.%s of ClusterCSIDriver %s", field, d.Name)},
		{in.class, "StorageClass " + d.StorageClass},
		{in.recorded, "ConfigMap " + d.StateConfigMap()},
		{mostUsed(in.volumes), "PersistentVolumes of " + d.Name},
	} {
		if named(s.place) && sameCluster(in.fsid, s.place) {
			chosen = s
			break
		}
	}
	place := chosen.place
	place.FSID = in.fsid
	if settings.DataPool != "" {
		place.DataPool = settings.DataPool
	}
	h, _ := homeOf(d, in)
	place.SubvolumeGroup, place.JournalNamespace = h.group, h.journal
	return driver.Wish{Placement: place, Origin: chosen.origin, Own: in.own(d), Create: in.settings.CreatesPools()}
}

// known is where the class is to stay while Ceph cannot be asked; false when nobody knows.
func known(d driver.Driver, in input) (ceph.Placement, bool) {
	for _, place := range []ceph.Placement{in.class, in.recorded} {
		if !named(place) || place.FSID == "" || !sameCluster(in.fsid, place) {
			continue
		}
		if place.Filesystem != "" {
			h, by := in.settled()
			if by != remembered {
				return ceph.Placement{}, false
			}
			place.SubvolumeGroup, place.JournalNamespace = cmp.Or(h.group, driver.DefaultSubvolumeGroup), h.journal
		}
		return place, true
	}
	return ceph.Placement{}, false
}

func named(place ceph.Placement) bool { return place.Pool != "" || place.Filesystem != "" }

func sameCluster(fsid string, place ceph.Placement) bool {
	return fsid == "" || place.FSID == "" || place.FSID == fsid
}

// mostUsed is the place with the most volumes; of equals, the first by name.
func mostUsed(volumes map[ceph.Placement]int) ceph.Placement {
	var best ceph.Placement
	for place, count := range volumes {
		better := count > volumes[best]
		equal := count == volumes[best] && slices.Compare(names(place), names(best)) < 0
		if better || equal {
			best = place
		}
	}
	return best
}

func names(place ceph.Placement) []string {
	return []string{place.Pool, place.DataPool, place.Filesystem, place.FSID}
}
