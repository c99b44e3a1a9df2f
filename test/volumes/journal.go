package volumes

import (
	"errors"
	"fmt"

	"github.com/ceph/go-ceph/rados"
)

// journal is one kind of entries in ceph-csi's journal: a directory object with the uuid of each
// request, and an object for each uuid. Both are omaps only.
type journal struct {
	// directories starts the name of the directory, behind which ceph-csi's --instanceid stands.
	directories, keyPrefix, objectPrefix string
	nameKey, requestKey, ownerKey        string
}

const (
	idKey             = "csi.imageid"
	sourceKey         = "csi.source"
	kmsKey            = "csi.volume.encryptKMS"
	encryptionTypeKey = "csi.volume.encryptionType"
	createdKey        = "csi.creationtime"
	journalPoolKey    = "csi.journalpool"
)

var (
	volumeJournal = journal{
		directories: "csi.volumes.", keyPrefix: "csi.volume.", objectPrefix: "csi.volume.",
		nameKey: "csi.imagename", requestKey: "csi.volname", ownerKey: "csi.volume.owner",
	}
	snapshotJournal = journal{
		directories: "csi.snaps.", keyPrefix: "csi.snap.", objectPrefix: "csi.snap.",
		nameKey: "csi.imagename", requestKey: "csi.snapname", ownerKey: "csi.volume.owner",
	}
	groupJournal = journal{
		directories: "csi.groups.", keyPrefix: "csi.volume.group.", objectPrefix: "csi.volume.group.",
		nameKey: "csi.groupname", requestKey: "csi.volname",
	}
)

func (j journal) directory(r request) string { return j.directories + orElse(r.instance, "default") }

// reserve writes what ceph-csi writes before it makes anything.
func (j journal) reserve(ioctx *rados.IOContext, r request, name string, more map[string]string) error {
	entry := map[string]string{j.nameKey: name, j.requestKey: r.name}
	if j != groupJournal && r.owner != "" {
		entry[j.ownerKey] = r.owner
	}
	for key, value := range more {
		entry[key] = value
	}
	if err := ioctx.Create(j.objectPrefix+r.uuid, rados.CreateIdempotent); err != nil {
		return fmt.Errorf("failed to create omap object for oMapNamePrefix+iterUUID=%s%s: %w", j.objectPrefix, r.uuid, err)
	}
	if err := setOmap(ioctx, j.directory(r), map[string]string{j.keyPrefix + r.name: r.uuid}); err != nil {
		return fmt.Errorf("journal %s of %s: %w", j.directory(r), r.name, err)
	}
	return j.set(ioctx, r.uuid, entry)
}

// find is the uuid of a request; empty when there is none.
func (j journal) find(ioctx *rados.IOContext, r request) (string, error) {
	key := j.keyPrefix + r.name
	values, err := ioctx.GetAllOmapValues(j.directory(r), "", key, 100)
	if err != nil && !errors.Is(err, rados.ErrNotFound) {
		return "", err
	}
	return string(values[key]), nil
}

// read is the object of a uuid; nil when there is none.
func (j journal) read(ioctx *rados.IOContext, uuid string) (map[string]string, error) {
	values, err := ioctx.GetAllOmapValues(j.objectPrefix+uuid, "", "", 100)
	if err != nil && !errors.Is(err, rados.ErrNotFound) {
		return nil, err
	}
	out := map[string]string{}
	for key, value := range values {
		out[key] = string(value)
	}
	return out, nil
}

// set adds keys to the object of a uuid.
func (j journal) set(ioctx *rados.IOContext, uuid string, entry map[string]string) error {
	if err := setOmap(ioctx, j.objectPrefix+uuid, entry); err != nil {
		return fmt.Errorf("journal object %s%s: %w", j.objectPrefix, uuid, err)
	}
	return nil
}

// release removes an entry: the key after the object, as ceph-csi does.
func (j journal) release(ioctx *rados.IOContext, r request) error {
	if err := ioctx.Delete(j.objectPrefix + r.uuid); err != nil && !errors.Is(err, rados.ErrNotFound) {
		return fmt.Errorf("removing journal object %s%s: %w", j.objectPrefix, r.uuid, err)
	}
	if err := ioctx.RmOmapKeys(j.directory(r), []string{j.keyPrefix + r.name}); err != nil && !errors.Is(err, rados.ErrNotFound) {
		return fmt.Errorf("removing key of %s in %s: %w", r.name, j.directory(r), err)
	}
	return nil
}

// scatter moves keys of a uuid's object, and with them the directory's key when withKey, from one
// namespace to another: what a ceph-csi leaves that serves two clusterIDs with different
// radosNamespaces at the same time.
func (j journal) scatter(from, to *rados.IOContext, r request, keys []string, withKey bool) error {
	object := j.objectPrefix + r.uuid
	entry, err := from.GetOmapValues(object, "", "", 100)
	if err != nil {
		return fmt.Errorf("reading %s: %w", object, err)
	}
	moved := map[string]string{}
	for _, key := range keys {
		moved[key] = string(entry[key])
	}
	if err := setOmap(to, object, moved); err != nil {
		return err
	}
	if err := from.RmOmapKeys(object, keys); err != nil {
		return err
	}
	if len(moved) == len(entry) {
		if err := from.Delete(object); err != nil {
			return err
		}
	}
	if !withKey {
		return nil
	}
	if err := setOmap(to, j.directory(r), map[string]string{j.keyPrefix + r.name: r.uuid}); err != nil {
		return err
	}
	return from.RmOmapKeys(j.directory(r), []string{j.keyPrefix + r.name})
}

// split moves all keys of a uuid's object, and the directory's key, into another pool. Each of the
// pools is named where the other one is.
func (j journal) split(from, to *rados.IOContext, r request) error {
	object := j.objectPrefix + r.uuid
	entry, err := from.GetOmapValues(object, "", "", 100)
	if err != nil {
		return fmt.Errorf("reading %s: %w", object, err)
	}
	moved := map[string]string{journalPoolKey: fmt.Sprintf("%016x", to.GetPoolID())}
	for key, value := range entry {
		moved[key] = string(value)
	}
	if err := j.set(to, r.uuid, moved); err != nil {
		return err
	}
	if err := from.CleanOmap(object); err != nil {
		return err
	}
	if err := setOmap(to, j.directory(r), map[string]string{j.keyPrefix + r.name: fmt.Sprintf("%016x/%s", from.GetPoolID(), r.uuid)}); err != nil {
		return err
	}
	return from.RmOmapKeys(j.directory(r), []string{j.keyPrefix + r.name})
}

func setOmap(ioctx *rados.IOContext, object string, entry map[string]string) error {
	values := map[string][]byte{}
	for key, value := range entry {
		values[key] = []byte(value)
	}
	return ioctx.SetOmap(object, values)
}
