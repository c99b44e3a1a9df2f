package driver

import (
	"context"
	"errors"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// ErrNothingToTag says that a volume has no image or subvolume of its own: one that shows a
// snapshot that cannot be found, one that is a directory of an administrator's, or one of unknown making.
var ErrNothingToTag = errors.New("there is nothing to tag")

// TagStore is what Tagging needs of a Ceph cluster.
type TagStore interface {
	Places
	Pools(ctx context.Context) ([]ceph.Pool, error)
	FileSystems(ctx context.Context) ([]ceph.FileSystem, error)
	// JournalEntry reads an object of ceph-csi's journals; ErrNotFound where there is none.
	JournalEntry(ctx context.Context, pool, namespace, object string) (map[string]string, error)
}

// Places reads and changes the metadata of images, subvolumes and their snapshots. What was changed by somebody
// else since it was read is left alone, with ErrChanged.
type Places interface {
	ImageMetadata(ctx context.Context, at ceph.ImagePlace) (ceph.ImageMetadata, error)
	ChangeImageMetadata(ctx context.Context, at ceph.ImagePlace, was ceph.ImageMetadata, change ceph.MetadataChange) error
	SubvolumeMetadata(ctx context.Context, filesystem string, places []ceph.SubvolumePlace) ([]ceph.SubvolumeMetadata, error)
	// ChangeSubvolumeMetadata returns an error for each of the changes, nil where it was made.
	ChangeSubvolumeMetadata(ctx context.Context, filesystem string, changes []ceph.SubvolumeChange) ([]error, error)
}

// Volume is what a PersistentVolume tells of where it lies, or a VolumeSnapshotContent.
type Volume struct {
	Handle     string
	Attributes map[string]string
	// Snapshot says that the handle is a snapshot's.
	Snapshot bool
	// Namespace is the RADOS namespace that config.json has for the volume's clusterID: that of
	// images, or of the journal of subvolumes; empty for ceph-csi's own choice.
	Namespace string
	// Group is the subvolume group that config.json has for the clusterID, where the attributes do
	// not tell it; empty for ceph-csi's own choice.
	Group string
}

// journal is the kind of the volume's journal.
func (v Volume) journal() ceph.JournalKind {
	if v.Snapshot {
		return ceph.JournalSnapshot
	}
	return ceph.JournalVolume
}

// usual is the name of the volume unless its class chose a prefix, for where no journal tells it.
func (v Volume) usual(uuid string) string {
	if v.Snapshot {
		return snapshotPrefix + uuid
	}
	return volumePrefix + uuid
}

// Tags is the metadata of one volume as it was found.
type Tags struct {
	Values map[string]string
	// Err is why Values is not known: ErrNotFound where the image or subvolume is gone,
	// ErrNotReady where it is being made, ErrNothingToTag where there is none.
	Err error
	// Shown says that these are the tags of the snapshot that the volume shows, having none of its own.
	Shown bool
	// Unrecorded is the journal in which ceph-csi looks for the subvolume in vain; empty where it is there, or nobody can tell.
	Unrecorded string

	image     ceph.ImagePlace
	was       ceph.ImageMetadata
	subvolume ceph.SubvolumePlace
}

// ShownUUID is the UUID of that snapshot.
func (t Tags) ShownUUID() string {
	name, _ := ceph.ParseCSIName(t.subvolume.Snapshot)
	return name.UUID
}

// Retag is what is to become of tags that were found.
type Retag struct {
	Tags
	ceph.MetadataChange
}

// Tagging reads and changes the tags of volumes and snapshots.
type Tagging interface {
	// Tags reads those of volumes of one Ceph cluster, in the order of the volumes. An error is
	// that of Ceph as a whole, such as ErrTimeout; what is returned beside it are the tags of the
	// first volumes, and if there are any, it was the next one that led to the error.
	Tags(ctx context.Context, cluster TagStore, volumes []Volume) ([]Tags, error)
	// Retag changes what Tags found, and returns an error for each of the changes, nil where it was
	// made. An error of Ceph as a whole ends it; of what comes later, nothing is returned then.
	Retag(ctx context.Context, cluster TagStore, changes []Retag) ([]error, error)
	// Where names the image, subvolume or snapshot, and TagCommand is what an administrator runs to set a
	// key of it.
	Where(found Tags) string
	TagCommand(found Tags, key, value string) string
}

const (
	radosNamespaceAttribute = "radosNamespace"
	staticAttribute         = "staticVolume"
	backingAttribute        = "backingSnapshot"
	// volumePrefix and snapshotPrefix start the names of images, subvolumes and snapshots unless a
	// class says otherwise.
	volumePrefix   = "csi-vol-"
	snapshotPrefix = "csi-snap-"
	// Keys of ceph-csi's journals (internal/journal/voljournal.go).
	journalName    = "csi.imagename"
	journalSource  = "csi.source"
	journalBacking = "csi.volume.backingsnapshotid"
)

// Static says that an administrator made the volume, and named it in the attributes.
func Static(attributes map[string]string) bool { return switchedOn(attributes, staticAttribute) }

// Shows says that the volume shows a snapshot, and has nothing of its own.
func Shows(attributes map[string]string) bool { return switchedOn(attributes, backingAttribute) }

// Cluster is the clusterID of a volume: that of the handle, which never changes. It is the fsid of its Ceph cluster
// unless somebody named it otherwise in config.json, and empty where neither handle nor attributes tell.
func (v Volume) Cluster() string {
	if handle, err := ceph.ParseVolumeHandle(v.Handle); err == nil {
		return handle.ClusterID
	}
	return v.Attributes[clusterIDParameter]
}

// entryOf reads the journal of a volume in the first of namespaces that has it; nil where none
// does. Several RADOS namespaces are possible because ceph-csi may mix them up (seen when one
// controller serves two of them at the same time).
func entryOf(ctx context.Context, cluster TagStore, pool string, name ceph.JournalName, namespaces ...string) (map[string]string, error) {
	object := name.Object()
	for _, namespace := range namespaces {
		entry, err := cluster.JournalEntry(ctx, pool, namespace, object)
		if err == nil && (entry[journalName] != "" || entry[journalBacking] != "") {
			return entry, nil
		}
		if err != nil && !errors.Is(err, ceph.ErrNotFound) {
			return nil, err
		}
	}
	return nil, nil
}
