package monitors

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// gather prefers what Ceph says now to what was recorded. A record that cannot be read is
// as good as none here: its writer reports it. Neither do settings that never were valid keep
// mons from being listed.
func (c *Controller) gather() known {
	settings, invalid := c.Settings()
	cluster, _, err := c.clusters.Load()
	if err != nil {
		cluster = state.Cluster{}
	}
	if live, ok := c.Cluster.Get(); ok {
		cluster = cluster.Succeed(state.ClusterOf(live))
	}
	msgr2 := c.speaksMsgr2(settings)
	k := known{
		cluster: c.inForm(cluster, msgr2), grouped: c.Driver.NeedsFilesystem, unset: invalid != nil, readAffinity: settings.ReadAffinity,
		kernelMountOptions: settings.KernelMountOptions, fuseMountOptions: settings.FuseMountOptions,
		releases: map[string][]string{}, unsafeReads: c.Driver.UnsafeReads, picks: c.Driver.PicksMons,
	}
	connected, _ := c.Clusters.Get()
	for _, other := range connected {
		k.releases[other.FSID] = other.Releases
		k.maps = append(k.maps, other.MonMap)
		if other.FSID != cluster.FSID {
			further := state.ClusterOf(other)
			if c.Driver.PicksMons {
				further = c.inForm(further, msgr2)
			}
			k.others = append(k.others, further)
		}
	}
	if live, ok := c.Placement.Get(); ok && live.FSID == cluster.FSID {
		k.place = live
		return k
	}
	recorded, _, err := c.placements.Load()
	if err == nil && recorded.FSID == cluster.FSID {
		k.place = ceph.Placement(recorded)
	}
	return k
}

// speaksMsgr2 says whether kernel clients speak messenger protocol 2: by the settings, or, where the mons can be listed in
// both forms, by the options of a class or a volume, which keeps those with which it was made.
func (c *Controller) speaksMsgr2(settings driver.Settings) bool {
	if settings.Msgr2() || !c.Driver.PicksMons {
		return settings.Msgr2()
	}
	classes, unlisted := c.StorageClasses.Lister().List(labels.Everything())
	volumes, unread := c.PersistentVolumes.Lister().List(labels.Everything())
	return unlisted != nil || unread != nil ||
		slices.ContainsFunc(classes, func(class *storagev1.StorageClass) bool {
			return class.Provisioner == c.Driver.Name && c.Driver.SpeaksMsgr2(class.Parameters, settings)
		}) ||
		slices.ContainsFunc(volumes, c.isMsgr2)
}

// isMsgr2 says whether a volume of the driver has kernel clients speak messenger protocol 2, whatever the settings.
func (c *Controller) isMsgr2(volume *corev1.PersistentVolume) bool {
	return c.Driver.Serves(volume) && c.Driver.SpeaksMsgr2(volume.Spec.CSI.VolumeAttributes, driver.Settings{})
}

// matters says of what an event carries that it is such a volume: there are few.
func (c *Controller) matters(object any) bool {
	volume, ok := ctrl.Object(object).(*corev1.PersistentVolume)
	return ok && c.Driver.PicksMons && c.isMsgr2(volume)
}

// inForm lists the mons by the addresses that kernel clients need: those that speak msgr2 know the mons by their v2
// addresses. Volumes that were made before speak the other protocol still, where the option is not that of all volumes of
// the Ceph cluster, as it is for CephFS in the entry of config.json: so others are listed in both forms, or as they are.
func (c *Controller) inForm(cluster state.Cluster, msgr2 bool) state.Cluster {
	if !msgr2 || len(cluster.MonHost) == 0 {
		return cluster
	}
	var listed []string
	if c.Driver.PicksMons {
		listed = append(listed, cluster.Monitors...)
	}
	for _, address := range cluster.MonHost {
		_, hostPort, _ := strings.Cut(address, ":")
		listed = append(listed, hostPort)
	}
	slices.Sort(listed)
	cluster.Monitors = slices.Compact(listed)
	return cluster
}

// Sync is how long the newest monmap took to the Secret that pods mount, in seconds from
// when its quorum was seen.
type Sync struct{ Seconds float64 }

// Written are the epochs, by fsid, of the newest monmaps whose mons the Secret lists that pods
// mount.
type Written map[string]int64

// epochs are those of the monmaps that config.json is made of.
func (k known) epochs() Written {
	out := Written{}
	for _, m := range k.maps {
		out[m.FSID] = m.Epoch
	}
	if _, connected := out[k.cluster.FSID]; connected {
		out[k.cluster.FSID] = k.cluster.Epoch
	}
	return out
}

// measure tells how old the newest monmap is that was just written for the first time.
func (c *Controller) measure(before []byte) {
	old, err := readConfig(before)
	if err != nil {
		return
	}
	clusters, _ := c.Clusters.Get()
	var newest time.Time
	for _, cluster := range clusters {
		mons := old.monitors(cluster.FSID)
		if !sameSet(mons, alike(cluster.MonMap, mons, c.Driver.PicksMons)) && cluster.EpochSince.After(newest) {
			newest = cluster.EpochSince
		}
	}
	if !newest.IsZero() {
		c.Took.Set(Sync{Seconds: c.Clock.Since(newest).Seconds()})
	}
}
