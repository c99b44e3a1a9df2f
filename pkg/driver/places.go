package driver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

const (
	journalPoolParameter = "journalPool"
	topologyParameter    = "topologyConstrainedPools"
	layoutPoolParameter  = "pool"
)

// Places has the pool, one more where the journal is kept elsewhere, and those of a topology.
func (i images) Places(parameters map[string]string) ([]ceph.Placement, error) {
	place := i.FromParameters(parameters)
	var places []ceph.Placement
	if place.Pool != "" {
		places = append(places, place)
	}
	if journal := JournalPool(parameters); journal != "" {
		places = append(places, ceph.Placement{FSID: place.FSID, Pool: journal})
	}
	topology := parameters[topologyParameter]
	if topology == "" {
		return places, nil
	}
	var pools []struct{ PoolName, DataPool string }
	if err := json.Unmarshal([]byte(topology), &pools); err != nil {
		return places, fmt.Errorf("parameter %s is not readable: %w", topologyParameter, err)
	}
	for _, p := range pools {
		if p.PoolName == "" {
			return places, fmt.Errorf("parameter %s has an entry without poolName", topologyParameter)
		}
		places = append(places, ceph.Placement{FSID: place.FSID, Pool: p.PoolName, DataPool: p.DataPool})
	}
	return places, nil
}

// Ineffective knows topologies: csi-provisioner tells the driver of none.
func (images) Ineffective(parameters map[string]string) string {
	if parameters[topologyParameter] == "" {
		return ""
	}
	follows, remedy := "without parameter "+poolParameter+", claims stay Pending", "make a class for each pool instead"
	if pool := parameters[poolParameter]; pool != "" {
		follows, remedy = fmt.Sprintf("every image goes to pool %q", pool), remedy+", and this one anew without the parameter"
	}
	return fmt.Sprintf("parameter %s has no effect, as the driver runs without topology: %s; %s", topologyParameter, follows, remedy)
}

// JournalPool is the pool that holds the journal of images and no image; empty where there is none.
func JournalPool(parameters map[string]string) string {
	if journal := parameters[journalPoolParameter]; journal != parameters[poolParameter] {
		return journal
	}
	return ""
}

// Places has the filesystem, with the data pool that new files are laid out in.
func (s subvolumes) Places(parameters map[string]string) ([]ceph.Placement, error) {
	place := s.FromParameters(parameters)
	if place.Filesystem == "" {
		return nil, nil
	}
	place.DataPool = parameters[layoutPoolParameter]
	return []ceph.Placement{place}, nil
}

// Ineffective is nothing: ceph-csi has topologies of images alone.
func (subvolumes) Ineffective(map[string]string) string { return "" }

// Namespace has to exist in a pool before the first image.
func (images) Namespace(entry ceph.ConfigEntry) string { return entry.ImageNamespace }

// Namespace needs nobody to make it.
func (subvolumes) Namespace(entry ceph.ConfigEntry) string { return entry.JournalNamespace }

// Options of Rook's flexVolume driver, in its several releases.
const (
	flexPool       = "pool"
	flexBlockPool  = "blockPool"
	flexDataPool   = "dataBlockPool"
	flexFilesystem = "fsName"
)

// Legacy reads in-tree rbd volumes and those of Rook's flexVolume driver.
func (images) Legacy(volume corev1.PersistentVolumeSpec) (Legacy, bool) {
	if rbd := volume.RBD; rbd != nil {
		return Legacy{Plugin: "in-tree rbd", Monitors: joined(rbd.CephMonitors), Pool: cmp.Or(rbd.RBDPool, "rbd")}, true
	}
	flex := volume.FlexVolume
	if !flexOfCeph(flex) || flex.Options[flexFilesystem] != "" {
		return Legacy{}, false
	}
	pool := cmp.Or(flex.Options[flexPool], flex.Options[flexBlockPool])
	return Legacy{Plugin: "flexVolume " + flex.Driver, Pool: pool, DataPool: flex.Options[flexDataPool]}, true
}

// Legacy reads in-tree cephfs volumes, which name no filesystem, and those of Rook's
// flexVolume driver.
func (subvolumes) Legacy(volume corev1.PersistentVolumeSpec) (Legacy, bool) {
	if cephfs := volume.CephFS; cephfs != nil {
		return Legacy{Plugin: "in-tree cephfs", Monitors: joined(cephfs.Monitors)}, true
	}
	flex := volume.FlexVolume
	if !flexOfCeph(flex) || flex.Options[flexFilesystem] == "" {
		return Legacy{}, false
	}
	return Legacy{Plugin: "flexVolume " + flex.Driver, Filesystem: flex.Options[flexFilesystem]}, true
}

// flexOfCeph knows "ceph.rook.io/rook-ceph" and its like, whose second part is the namespace
// of Rook's operator.
func flexOfCeph(flex *corev1.FlexPersistentVolumeSource) bool {
	if flex == nil {
		return false
	}
	vendor, _, _ := strings.Cut(flex.Driver, "/")
	return vendor == "rook.io" || strings.HasSuffix(vendor, ".rook.io") || strings.Contains(flex.Driver, "ceph")
}

func joined(monitors []string) string {
	return strings.Join(slices.Sorted(slices.Values(monitors)), ",")
}

// KeepLegacy copies what Legacy reads, and nothing else, from one specification to another.
func KeepLegacy(from corev1.PersistentVolumeSpec, to *corev1.PersistentVolumeSpec) {
	if rbd := from.RBD; rbd != nil {
		to.RBD = &corev1.RBDPersistentVolumeSource{CephMonitors: rbd.CephMonitors, RBDPool: rbd.RBDPool}
	}
	if cephfs := from.CephFS; cephfs != nil {
		to.CephFS = &corev1.CephFSPersistentVolumeSource{Monitors: cephfs.Monitors}
	}
	flex := from.FlexVolume
	if !flexOfCeph(flex) {
		return
	}
	to.FlexVolume = &corev1.FlexPersistentVolumeSource{Driver: flex.Driver, Options: map[string]string{}}
	for _, option := range []string{flexPool, flexBlockPool, flexDataPool, flexFilesystem} {
		if value, found := flex.Options[option]; found {
			to.FlexVolume.Options[option] = value
		}
	}
}
