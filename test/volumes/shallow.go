package volumes

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ceph/go-ceph/rados"
)

const backingKey = "csi.volume.backingsnapshotid"

// Shallow is a read-only volume that shows a snapshot: it has a journal and a reference to the
// snapshot, and no subvolume.
type Shallow struct {
	cluster  *Cluster
	request  request
	Snapshot *SubvolumeSnapshot
	Claim    string
	// Name is what a subvolume would be called.
	Name string
}

// UUID is what its journal entries are found by.
func (v *Shallow) UUID() string { return v.request.uuid }

// Handle is the PV's volume handle.
func (v *Shallow) Handle() (string, error) {
	return v.cluster.fileHandle(v.Snapshot.Source.Class, v.request.uuid)
}

// Shallow makes one of a snapshot, which may be another cluster's.
func (c *Cluster) Shallow(s *SubvolumeSnapshot, claim string) (*Shallow, error) {
	v := &Shallow{cluster: c, Snapshot: s, Claim: claim, request: c.volumeRequest(claim)}
	v.Name = s.Source.Class.name(v.request.uuid)
	backing, err := s.Handle()
	if err != nil {
		return nil, err
	}
	ioctx, err := s.journal()
	if err != nil {
		return nil, err
	}
	if err := volumeJournal.reserve(ioctx, v.request, v.Name, map[string]string{backingKey: backing}); err != nil {
		return nil, err
	}
	return v, addReferences(ioctx, backing, v.Name)
}

// Delete is DeleteVolume. The last one of a deleted snapshot takes the snapshot with it.
func (v *Shallow) Delete() error {
	backing, err := v.Snapshot.Handle()
	if err != nil {
		return err
	}
	ioctx, err := v.Snapshot.journal()
	if err != nil {
		return err
	}
	gone, err := dropReference(ioctx, backing, v.Name)
	if err != nil {
		return err
	}
	if gone {
		if err := v.Snapshot.remove(ioctx); err != nil {
			return err
		}
	}
	return volumeJournal.release(ioctx, v.request)
}

// A reference object has, as ceph-csi's reftracker writes it: the number of references as data, the
// format's version as an attribute, and a key per reference with its type. Numbers are big endian.
const (
	versionAttribute = "csi.ceph.com/rt-version"
	normal, masked   = 1, 2
)

func referenceObject(backing string) string { return "rt-backingsnapshot-" + backing }

// addReferences adds the snapshot's own reference and that of a volume.
func addReferences(ioctx *rados.IOContext, backing, volume string) error {
	object := referenceObject(backing)
	references, err := ioctx.GetOmapValues(object, "", "", 1000)
	if err != nil && !errors.Is(err, rados.ErrNotFound) {
		return fmt.Errorf("reading %s: %w", object, err)
	}
	if len(references) == 0 {
		references = map[string][]byte{backing: {normal}}
	}
	references[volume] = []byte{normal}
	return writeReferences(ioctx, object, references)
}

func writeReferences(ioctx *rados.IOContext, object string, references map[string][]byte) error {
	count := uint32(0)
	for _, kind := range references {
		if kind[0] == normal {
			count++
		}
	}
	operation := rados.CreateWriteOp()
	defer operation.Release()
	operation.WriteFull(binary.BigEndian.AppendUint32(nil, count))
	operation.SetXattr(versionAttribute, binary.BigEndian.AppendUint32(nil, 1))
	operation.CleanOmap()
	operation.SetOmap(references)
	if err := operation.Operate(ioctx, object, rados.OperationNoFlag); err != nil {
		return fmt.Errorf("writing %s: %w", object, err)
	}
	return nil
}

// dropReference removes a volume's reference. It tells whether that was the last one of a deleted
// snapshot: then the object is gone too.
func dropReference(ioctx *rados.IOContext, backing, volume string) (bool, error) {
	object := referenceObject(backing)
	references, err := ioctx.GetOmapValues(object, "", "", 1000)
	if err != nil {
		return false, fmt.Errorf("reading %s: %w", object, err)
	}
	delete(references, volume)
	if len(references) == 1 && references[backing] != nil && references[backing][0] == masked {
		return true, ioctx.Delete(object)
	}
	return false, writeReferences(ioctx, object, references)
}

// mask marks the snapshot's own reference as deleted. It tells whether volumes still show the
// snapshot. Without any, the object goes.
func (s *SubvolumeSnapshot) mask(ioctx *rados.IOContext) (bool, error) {
	backing, err := s.Handle()
	if err != nil {
		return false, err
	}
	object := referenceObject(backing)
	references, err := ioctx.GetOmapValues(object, "", "", 1000)
	if errors.Is(err, rados.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading %s: %w", object, err)
	}
	if len(references) == 1 {
		return false, ioctx.Delete(object)
	}
	references[backing] = []byte{masked}
	return true, writeReferences(ioctx, object, references)
}
