package status

import (
	"k8s.io/component-base/metrics"
	"k8s.io/utils/clock"
)

// The metrics. Those with a label have one line for each Ceph cluster, by its fsid; one whose
// feature has nothing to tell yet is absent.
var (
	reachable     = describeMetric("ceph_csi_driver_operator_reachable", "Whether the Ceph cluster answers: 1 or 0; without fsid where none has answered yet that is declared.", "fsid")
	monmapEpoch   = describeMetric("ceph_csi_driver_operator_monmap_epoch", "Epoch of the newest monmap that was seen.", "fsid")
	monmapAge     = describeMetric("ceph_csi_driver_operator_monmap_age_seconds", "Time since the newest monmap was seen for the first time.", "fsid")
	mons          = describeMetric("ceph_csi_driver_operator_mons", "Mons in the newest monmap that was seen.", "fsid")
	monSync       = describeMetric("ceph_csi_driver_operator_mon_sync_seconds", "How long the newest monmap took to the Secret that the pods mount.")
	writtenEpoch  = describeMetric("ceph_csi_driver_operator_written_monmap_epoch", "Epoch of the newest monmap whose mons the Secret lists that the pods mount.", "fsid")
	missingPools  = describeMetric("ceph_csi_driver_operator_missing_pools", "Pools that StorageClasses or volumes name and Ceph lacks.", "fsid")
	guardedPools  = describeMetric("ceph_csi_driver_operator_protected_pools", "Pools in use that cannot be removed by accident.", "fsid")
	openPools     = describeMetric("ceph_csi_driver_operator_unprotected_pools", "Pools in use that should be protected from removal, and are not.", "fsid")
	poolVolumes   = describeMetric("ceph_csi_driver_operator_pool_volumes", "PersistentVolumes of the driver that lie in the pool, with their data or with what leads to it.", "fsid", "pool")
	poolStored    = describeMetric("ceph_csi_driver_operator_pool_stored_bytes", "What is written in a pool in use, by whomever, without copies.", "fsid", "pool")
	poolAvailable = describeMetric("ceph_csi_driver_operator_pool_available_bytes", "What can still be written in a pool in use, without copies.", "fsid", "pool")
	poolsCut      = describeMetric("ceph_csi_driver_operator_pools_omitted", "Pools in use of which the metrics of single pools tell nothing, because there are too many.", "fsid")
	untagged      = describeMetric("ceph_csi_driver_operator_untagged_volumes", "PersistentVolumes and VolumeSnapshotContents whose image, subvolume or snapshot should say that it is this cluster's, and cannot be made to.", "fsid")
	conflicting   = describeMetric("ceph_csi_driver_operator_conflicting_volumes", "PersistentVolumes and VolumeSnapshotContents whose image, subvolume or snapshot says that it is another cluster's.", "fsid")
	volumes       = describeMetric("ceph_csi_driver_operator_volumes", "PersistentVolumes of the driver.", "fsid")
	legacyVolumes = describeMetric("ceph_csi_driver_operator_legacy_volumes", "PersistentVolumes of Ceph from before CSI, in-tree and flexVolume.")
	machinesReady = describeMetric("ceph_csi_driver_operator_virtual_machines_ready", "Whether virtual machines can do this on a StorageClass: 1 or 0.", "storageclass", "feature")
	machinesCut   = describeMetric("ceph_csi_driver_operator_virtual_machines_omitted", "StorageClasses of which ceph_csi_driver_operator_virtual_machines_ready tells nothing, because there are too many.")
	certificates  = describeMetric("ceph_csi_driver_operator_serving_certificate_expiration_timestamp_seconds", "When a serving certificate ends that cluster-storage made, by the Secret that it is in.", "secret")
	nodesByState  = describeMetric("ceph_csi_driver_operator_nodes", "Nodes of Linux: served ones can mount volumes; of the others, left_out ones are to have no node pod, and not_ready ones are away themselves, or cordoned.", "state")
)

func describeMetric(name, help string, labels ...string) *metrics.Desc {
	return metrics.NewDesc(name, help, labels, nil, metrics.ALPHA, "")
}

// Metrics reads what the features have published whenever it is asked.
type Metrics struct {
	metrics.BaseStableCollector
	sources Sources
	clock   clock.PassiveClock
}

var _ metrics.StableCollector = &Metrics{}

// NewMetrics returns a collector to be registered once in a process.
func NewMetrics(sources Sources, clock clock.PassiveClock) *Metrics {
	return &Metrics{sources: sources, clock: clock}
}

// DescribeWithStability sends all metrics that there can be.
func (m *Metrics) DescribeWithStability(ch chan<- *metrics.Desc) {
	for _, d := range []*metrics.Desc{reachable, monmapEpoch, monmapAge, mons, monSync, writtenEpoch, missingPools, guardedPools, openPools,
		poolVolumes, poolStored, poolAvailable, poolsCut, untagged, conflicting, volumes,
		legacyVolumes, machinesReady, machinesCut, nodesByState, certificates} {
		ch <- d
	}
}

// CollectWithStability sends those of which something is known.
func (m *Metrics) CollectWithStability(ch chan<- metrics.Metric) {
	send := func(d *metrics.Desc, value float64, labels ...string) {
		ch <- metrics.NewLazyConstMetric(d, metrics.GaugeValue, value, labels...)
	}
	m.collectMachines(send)
	if count, known := m.sources.Nodes.Get(); known {
		send(nodesByState, float64(count.Served), "served")
		send(nodesByState, float64(count.NotServed), "not_served")
		send(nodesByState, float64(count.NotReady), "not_ready")
		send(nodesByState, float64(count.LeftOut), "left_out")
	}
	for secret, end := range m.sources.Expiries() {
		send(certificates, float64(end.Unix()), secret)
	}
	m.collectConnections(send)
	m.collectCapacities(send)
	clusters, _ := m.sources.Clusters.Get()
	lists, poolsKnown := m.sources.Pools.Get()
	used, usageKnown := m.sources.Usage.Get()
	tagCounts, _ := m.sources.Tags.Get()
	for _, c := range clusters {
		send(monmapEpoch, float64(c.MonMap.Epoch), c.FSID)
		send(mons, float64(len(c.MonMap.Mons)+len(c.MonMap.NeverJoined)), c.FSID)
		if poolsKnown {
			send(missingPools, float64(len(lists.Missing[c.FSID])), c.FSID)
			send(guardedPools, float64(len(lists.Protected[c.FSID])), c.FSID)
			send(openPools, float64(len(lists.Unprotected[c.FSID])), c.FSID)
		}
		if counts, known := tagCounts[c.FSID]; known {
			send(untagged, float64(counts.Untagged), c.FSID)
			send(conflicting, float64(counts.Conflicting), c.FSID)
		}
		if usageKnown {
			count := 0
			for _, place := range used.In(c) {
				count += place.Volumes
			}
			send(volumes, float64(count), c.FSID)
		}
	}
	if usageKnown {
		send(legacyVolumes, float64(used.LegacyVolumes()))
	}
}

func (m *Metrics) collectConnections(send func(d *metrics.Desc, value float64, labels ...string)) {
	connections, _ := m.sources.Connections.Get()
	nameless := false
	for _, c := range connections {
		if c.FSID == "" {
			nameless = true
			continue
		}
		up := 0.0
		if c.Reachable {
			up = 1
		}
		send(reachable, up, c.FSID)
		if !c.EpochSince.IsZero() {
			send(monmapAge, m.clock.Since(c.EpochSince).Seconds(), c.FSID)
		}
	}
	if nameless {
		send(reachable, 0, "")
	}
	if sync, known := m.sources.MonSync.Get(); known {
		send(monSync, sync.Seconds)
	}
	written, _ := m.sources.WrittenMons.Get()
	for fsid, epoch := range written {
		send(writtenEpoch, float64(epoch), fsid)
	}
}

// mostPools is how many pools of a Ceph cluster are told of, those with the most volumes: each is a line of several
// metrics.
const mostPools = 200

func (m *Metrics) collectCapacities(send func(d *metrics.Desc, value float64, labels ...string)) {
	capacities, _ := m.sources.Capacities.Get()
	for fsid, pools := range capacities {
		told := pools[:min(len(pools), mostPools)]
		send(poolsCut, float64(len(pools)-len(told)), fsid)
		for _, p := range told {
			send(poolVolumes, float64(p.Volumes), fsid, p.Pool)
			if p.Measured {
				send(poolStored, float64(p.Stored), fsid, p.Pool)
				send(poolAvailable, float64(p.Available), fsid, p.Pool)
			}
		}
	}
}

func (m *Metrics) collectMachines(send func(d *metrics.Desc, value float64, labels ...string)) {
	machines, known := m.sources.Machines.Get()
	if !known {
		return
	}
	classes, omitted := machines.Classes(mostNames)
	send(machinesCut, float64(omitted))
	for _, class := range classes {
		for feature, why := range machines[class] {
			can := 0.0
			if why == "" {
				can = 1
			}
			send(machinesReady, can, class, feature)
		}
	}
}
