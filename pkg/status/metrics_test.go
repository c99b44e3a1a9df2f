package status

import (
	"strings"
	"testing"
	"time"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/testutil"
	clocktesting "k8s.io/utils/clock/testing"
)

func TestMetrics(t *testing.T) {
	now := time.Now()
	sources := newSources()
	var ends map[string]time.Time
	sources.Expiries = func() map[string]time.Time { return ends }
	registry := metrics.NewKubeRegistry()
	registry.CustomMustRegister(NewMetrics(sources, clocktesting.NewFakePassiveClock(now)))
	if families, err := registry.Gather(); err != nil || len(families) > 0 {
		t.Errorf("nothing is known, but there are %v, %v", families, err)
	}
	sources.tellAll(t, now)
	ends = map[string]time.Time{"s": time.Unix(1700000000, 0)}
	want := `
# HELP ceph_csi_driver_operator_reachable [ALPHA] Whether the Ceph cluster answers: 1 or 0; without fsid where none has answered yet that is declared.
# TYPE ceph_csi_driver_operator_reachable gauge
ceph_csi_driver_operator_reachable{fsid=""} 0
ceph_csi_driver_operator_reachable{fsid="f1"} 1
ceph_csi_driver_operator_reachable{fsid="f2"} 0
# HELP ceph_csi_driver_operator_monmap_epoch [ALPHA] Epoch of the newest monmap that was seen.
# TYPE ceph_csi_driver_operator_monmap_epoch gauge
ceph_csi_driver_operator_monmap_epoch{fsid="f1"} 2
ceph_csi_driver_operator_monmap_epoch{fsid="f2"} 1
# HELP ceph_csi_driver_operator_mons [ALPHA] Mons in the newest monmap that was seen.
# TYPE ceph_csi_driver_operator_mons gauge
ceph_csi_driver_operator_mons{fsid="f1"} 2
ceph_csi_driver_operator_mons{fsid="f2"} 2
# HELP ceph_csi_driver_operator_monmap_age_seconds [ALPHA] Time since the newest monmap was seen for the first time.
# TYPE ceph_csi_driver_operator_monmap_age_seconds gauge
ceph_csi_driver_operator_monmap_age_seconds{fsid="f1"} 60
# HELP ceph_csi_driver_operator_mon_sync_seconds [ALPHA] How long the newest monmap took to the Secret that the pods mount.
# TYPE ceph_csi_driver_operator_mon_sync_seconds gauge
ceph_csi_driver_operator_mon_sync_seconds 0.5
# HELP ceph_csi_driver_operator_written_monmap_epoch [ALPHA] Epoch of the newest monmap whose mons the Secret lists that the pods mount.
# TYPE ceph_csi_driver_operator_written_monmap_epoch gauge
ceph_csi_driver_operator_written_monmap_epoch{fsid="f1"} 2
# HELP ceph_csi_driver_operator_missing_pools [ALPHA] Pools that StorageClasses or volumes name and Ceph lacks.
# TYPE ceph_csi_driver_operator_missing_pools gauge
ceph_csi_driver_operator_missing_pools{fsid="f1"} 1
ceph_csi_driver_operator_missing_pools{fsid="f2"} 0
# HELP ceph_csi_driver_operator_protected_pools [ALPHA] Pools in use that cannot be removed by accident.
# TYPE ceph_csi_driver_operator_protected_pools gauge
ceph_csi_driver_operator_protected_pools{fsid="f1"} 2
ceph_csi_driver_operator_protected_pools{fsid="f2"} 0
# HELP ceph_csi_driver_operator_unprotected_pools [ALPHA] Pools in use that should be protected from removal, and are not.
# TYPE ceph_csi_driver_operator_unprotected_pools gauge
ceph_csi_driver_operator_unprotected_pools{fsid="f1"} 1
ceph_csi_driver_operator_unprotected_pools{fsid="f2"} 0
# HELP ceph_csi_driver_operator_pool_volumes [ALPHA] PersistentVolumes of the driver that lie in the pool, with their data or with what leads to it.
# TYPE ceph_csi_driver_operator_pool_volumes gauge
ceph_csi_driver_operator_pool_volumes{fsid="f1",pool="d"} 2
ceph_csi_driver_operator_pool_volumes{fsid="f1",pool="new"} 1
# HELP ceph_csi_driver_operator_pool_stored_bytes [ALPHA] What is written in a pool in use, by whomever, without copies.
# TYPE ceph_csi_driver_operator_pool_stored_bytes gauge
ceph_csi_driver_operator_pool_stored_bytes{fsid="f1",pool="d"} 30
# HELP ceph_csi_driver_operator_pool_available_bytes [ALPHA] What can still be written in a pool in use, without copies.
# TYPE ceph_csi_driver_operator_pool_available_bytes gauge
ceph_csi_driver_operator_pool_available_bytes{fsid="f1",pool="d"} 10
# HELP ceph_csi_driver_operator_pools_omitted [ALPHA] Pools in use of which the metrics of single pools tell nothing, because there are too many.
# TYPE ceph_csi_driver_operator_pools_omitted gauge
ceph_csi_driver_operator_pools_omitted{fsid="f1"} 0
# HELP ceph_csi_driver_operator_untagged_volumes [ALPHA] PersistentVolumes and VolumeSnapshotContents whose image, subvolume or snapshot should say that it is this cluster's, and cannot be made to.
# TYPE ceph_csi_driver_operator_untagged_volumes gauge
ceph_csi_driver_operator_untagged_volumes{fsid="f1"} 2
# HELP ceph_csi_driver_operator_conflicting_volumes [ALPHA] PersistentVolumes and VolumeSnapshotContents whose image, subvolume or snapshot says that it is another cluster's.
# TYPE ceph_csi_driver_operator_conflicting_volumes gauge
ceph_csi_driver_operator_conflicting_volumes{fsid="f1"} 3
# HELP ceph_csi_driver_operator_volumes [ALPHA] PersistentVolumes of the driver.
# TYPE ceph_csi_driver_operator_volumes gauge
ceph_csi_driver_operator_volumes{fsid="f1"} 3
ceph_csi_driver_operator_volumes{fsid="f2"} 0
# HELP ceph_csi_driver_operator_legacy_volumes [ALPHA] PersistentVolumes of Ceph from before CSI, in-tree and flexVolume.
# TYPE ceph_csi_driver_operator_legacy_volumes gauge
ceph_csi_driver_operator_legacy_volumes 3
# HELP ceph_csi_driver_operator_virtual_machines_ready [ALPHA] Whether virtual machines can do this on a StorageClass: 1 or 0.
# TYPE ceph_csi_driver_operator_virtual_machines_ready gauge
ceph_csi_driver_operator_virtual_machines_ready{feature="backup",storageclass="vms"} 0
ceph_csi_driver_operator_virtual_machines_ready{feature="image",storageclass="vms"} 1
# HELP ceph_csi_driver_operator_virtual_machines_omitted [ALPHA] StorageClasses of which ceph_csi_driver_operator_virtual_machines_ready tells nothing, because there are too many.
# TYPE ceph_csi_driver_operator_virtual_machines_omitted gauge
ceph_csi_driver_operator_virtual_machines_omitted 0
# HELP ceph_csi_driver_operator_nodes [ALPHA] Nodes of Linux: served ones can mount volumes; of the others, left_out ones are to have no node pod, and not_ready ones are away themselves, or cordoned.
# TYPE ceph_csi_driver_operator_nodes gauge
ceph_csi_driver_operator_nodes{state="left_out"} 3
ceph_csi_driver_operator_nodes{state="not_ready"} 1
ceph_csi_driver_operator_nodes{state="not_served"} 2
ceph_csi_driver_operator_nodes{state="served"} 5
# HELP ceph_csi_driver_operator_serving_certificate_expiration_timestamp_seconds [ALPHA] When a serving certificate ends that cluster-storage made, by the Secret that it is in.
# TYPE ceph_csi_driver_operator_serving_certificate_expiration_timestamp_seconds gauge
ceph_csi_driver_operator_serving_certificate_expiration_timestamp_seconds{secret="s"} 1.7e+09
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}
