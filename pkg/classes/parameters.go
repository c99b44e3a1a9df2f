package classes

import (
	"maps"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// The assets have what does not depend on the Ceph cluster, such as the cephx Secrets.

// volumeParameters are what a StorageClass gets from the Ceph cluster and from the settings,
// which may replace defaults of the asset.
func volumeParameters(d driver.Driver, place ceph.Placement, settings driver.Settings) map[string]string {
	parameters := d.Storage.Options(settings)
	maps.Copy(parameters, d.Storage.Parameters(place))
	if place.DataPool != "" {
		parameters["dataPool"] = place.DataPool
	}
	return parameters
}

// snapshotParameters are those of a VolumeSnapshotClass: snapshots lie where their volume does.
func snapshotParameters(_ driver.Driver, place ceph.Placement) map[string]string {
	return map[string]string{"clusterID": place.FSID}
}

// groupSnapshotParameters are those of a VolumeGroupSnapshotClass, whose journal has a place.
func groupSnapshotParameters(d driver.Driver, place ceph.Placement) map[string]string {
	return d.Storage.Parameters(place)
}
