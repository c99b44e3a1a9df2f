package usage

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// radosNamespaceAttribute is what ceph-csi writes into volumes of images; for classes it stands
// in config.json alone.
const radosNamespaceAttribute = "radosNamespace"

type placeKey struct {
	ceph.Placement
	radosNamespace string
}

type placeSet map[placeKey]*Place

// finder collects places under way: those of the driver, and of others like it.
type finder struct {
	driver         driver.Driver
	config         map[string]ceph.ConfigEntry
	places, others placeSet
	legacy         map[driver.Legacy]int
}

func (f finder) at(in placeSet, key placeKey) *Place {
	place, found := in[key]
	if !found {
		mons := slices.Sorted(slices.Values(f.config[key.FSID].Monitors))
		place = &Place{Placement: key.Placement, RADOSNamespace: key.radosNamespace, Monitors: mons}
		if entry, known := f.config[key.FSID]; known && key.Filesystem != "" && !ceph.IsFSID(key.FSID) {
			place.Group = cmp.Or(entry.SubvolumeGroup, driver.DefaultSubvolumeGroup)
		}
		in[key] = place
	}
	return place
}

func (f finder) class(class *storagev1.StorageClass) error {
	places, err := f.driver.Storage.Places(class.Parameters)
	for _, p := range places {
		namespace := f.driver.Storage.Namespace(f.config[p.FSID])
		if p.Pool != "" && p.Pool == driver.JournalPool(class.Parameters) {
			namespace = "" // A journal needs nobody to make it.
		}
		place := f.at(f.places, placeKey{p, namespace})
		if !slices.Contains(place.Classes, class.Name) {
			place.Classes = append(place.Classes, class.Name)
		}
	}
	return err
}

func (f finder) volume(volume *corev1.PersistentVolume) {
	csi := volume.Spec.CSI
	if csi == nil {
		if legacy, found := f.driver.Storage.Legacy(volume.Spec); found {
			f.legacy[legacy]++
		}
		return
	}
	switch {
	case csi.Driver == f.driver.Name:
		f.provisioned(f.places, csi)
	case f.driver.KinServes(csi):
		f.provisioned(f.others, csi)
	}
}

func (f finder) provisioned(in placeSet, csi *corev1.CSIPersistentVolumeSource) {
	// What the attributes name beside the first place, such as a journal's pool, is in use too.
	places, _ := f.driver.Storage.Places(csi.VolumeAttributes)
	handle, err := ceph.ParseVolumeHandle(csi.VolumeHandle)
	if err != nil && len(places) == 0 {
		return // A handle of an administrator's making says nothing of the place.
	}
	if len(places) == 0 {
		places = []ceph.Placement{{Pool: handle.Pool}}
	}
	for i, p := range places {
		p.FSID = cmp.Or(p.FSID, handle.ClusterID)
		namespace := cmp.Or(csi.VolumeAttributes[radosNamespaceAttribute], f.driver.Storage.Namespace(f.config[p.FSID]))
		place := f.at(in, placeKey{p, namespace})
		if i > 0 {
			place.Journal = place.Journal || p.Pool == driver.JournalPool(csi.VolumeAttributes)
			continue
		}
		place.Volumes++
		d := driver.Directory(csi.VolumeAttributes)
		if d != "" && !slices.Contains(place.Directories, d) {
			place.Directories = append(place.Directories, d)
		}
		if a, astray := f.astray(p.FSID, d); csi.VolumeAttributes[driver.SubvolumePathAttribute] != "" && astray && !slices.Contains(place.Astray, a) {
			place.Astray = append(place.Astray, a)
		}
		if id := handle.LocationID; id != 0 && !slices.Contains(place.IDs, id) {
			place.IDs = append(place.IDs, id)
		}
	}
}

// astray says that ceph-csi's controllers look for a volume in another group than where it is: they go by config.json, and not
// by the volume (NewVolumeOptionsFromVolID in its internal/cephfs/store).
func (f finder) astray(clusterID, directory string) (Astray, bool) {
	entry, known := f.config[clusterID]
	a := Astray{ClusterID: clusterID, Directory: directory, Wanted: driver.GroupDirectory(entry.SubvolumeGroup)}
	return a, known && a.Directory != a.Wanted
}

// snapshot has a handle of the same form as a volume's, and nothing else that tells the place.
func (f finder) snapshot(snapshot Snapshot) {
	at, err := ceph.ParseVolumeHandle(snapshot.Handle)
	if err != nil || at.ClusterID == "" {
		return
	}
	in := f.places
	switch {
	case f.driver.Kin(snapshot.Driver):
		in = f.others
	case snapshot.Driver != f.driver.Name:
		return
	}
	place := f.at(in, placeKey{ceph.Placement{FSID: at.ClusterID, Pool: at.Pool}, f.driver.Storage.Namespace(f.config[at.ClusterID])})
	place.Snapshots++
	if id := at.LocationID; id != 0 && !slices.Contains(place.IDs, id) {
		place.IDs = append(place.IDs, id)
	}
}

func (p placeSet) sorted() []Place {
	var out []Place
	for _, place := range p {
		slices.Sort(place.Classes)
		slices.Sort(place.IDs)
		slices.Sort(place.Directories)
		slices.SortFunc(place.Astray, func(a, b Astray) int { return cmp.Compare(a.Directory, b.Directory) })
		out = append(out, *place)
	}
	slices.SortFunc(out, func(a, b Place) int {
		return cmp.Or(
			cmp.Compare(a.FSID, b.FSID), cmp.Compare(a.Pool, b.Pool), cmp.Compare(a.DataPool, b.DataPool),
			cmp.Compare(a.Filesystem, b.Filesystem), cmp.Compare(a.RADOSNamespace, b.RADOSNamespace),
		)
	})
	return out
}

func (f finder) sortedLegacy() []Legacy {
	var out []Legacy
	for legacy, volumes := range f.legacy {
		out = append(out, Legacy{Legacy: legacy, Volumes: volumes})
	}
	slices.SortFunc(out, func(a, b Legacy) int {
		return cmp.Or(
			cmp.Compare(a.Plugin, b.Plugin), cmp.Compare(a.Pool, b.Pool), cmp.Compare(a.DataPool, b.DataPool),
			cmp.Compare(a.Filesystem, b.Filesystem), cmp.Compare(a.Monitors, b.Monitors),
		)
	})
	return out
}
