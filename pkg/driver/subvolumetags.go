package driver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/shell"
)

// ungrouped is the directory of subvolumes that are in no group.
const ungrouped = "_nogroup"

// Tags asks the mgr for all subvolumes of a filesystem over one connection.
func (s subvolumes) Tags(ctx context.Context, cluster TagStore, volumes []Volume) ([]Tags, error) {
	filesystems, err := cluster.FileSystems(ctx)
	if err != nil {
		return nil, err
	}
	pools, err := cluster.Pools(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Tags, len(volumes))
	for i, v := range volumes {
		out[i].subvolume, out[i].Err = s.locate(ctx, cluster, filesystems, pools, v, &out[i].Unrecorded)
		out[i].Shown = out[i].subvolume.Snapshot != "" && !v.Snapshot
		if ceph.NoAnswer(out[i].Err) {
			return nil, out[i].Err
		}
	}
	for _, f := range filesystems {
		if err := readSubvolumes(ctx, cluster, f.Name, out); err != nil {
			return nil, err
		}
	}
	for i := range out {
		if out[i].Err == nil && out[i].Values == nil {
			out[i].Err = fmt.Errorf("filesystem %q: %w", out[i].subvolume.Filesystem, ceph.ErrNotFound)
		}
	}
	return out, nil
}

// readSubvolumes completes those of the filesystem that were located.
func readSubvolumes(ctx context.Context, cluster TagStore, filesystem string, all []Tags) error {
	var which []int
	var places []ceph.SubvolumePlace
	for i, t := range all {
		if t.Err == nil && t.subvolume.Filesystem == filesystem {
			which, places = append(which, i), append(places, t.subvolume)
		}
	}
	if len(places) == 0 {
		return nil
	}
	found, err := cluster.SubvolumeMetadata(ctx, filesystem, places)
	if ceph.NoAnswer(err) {
		return err
	}
	for n, i := range which {
		if all[i].Err = err; err == nil {
			all[i].Values, all[i].Err = found[n].Values, found[n].Err
		}
	}
	return nil
}

// locate finds a subvolume, or a snapshot of one, and sets unrecorded as Tags has it.
func (subvolumes) locate(ctx context.Context, cluster TagStore, filesystems []ceph.FileSystem, pools []ceph.Pool, v Volume, unrecorded *string) (ceph.SubvolumePlace, error) {
	if Static(v.Attributes) {
		return ofDirectory(cmp.Or(v.Attributes[filesystemParameter], defaultOf(filesystems)), v.Attributes[RootPathAttribute])
	}
	handle, err := ceph.ParseVolumeHandle(v.Handle)
	if err != nil {
		return ceph.SubvolumePlace{}, fmt.Errorf("%w: handle %q is not of ceph-csi's making", ErrNothingToTag, v.Handle)
	}
	n := slices.IndexFunc(filesystems, func(f ceph.FileSystem) bool { return f.ID == handle.LocationID })
	if n < 0 {
		return ceph.SubvolumePlace{}, fmt.Errorf("filesystem with ID %d: %w", handle.LocationID, ceph.ErrNotFound)
	}
	name := ceph.JournalName{Kind: v.journal(), UUID: handle.UUID}
	namespace := cmp.Or(v.Namespace, DefaultJournalNamespace)
	entry, err := metadataEntry(ctx, cluster, pools, filesystems[n].MetadataPool, name, namespace)
	if v.Snapshot {
		return ofSnapshot(filesystems[n].Name, v, name, entry, err)
	}
	// The mgr alone is enough for most volumes, whose names the handle tells.
	if err != nil && !errors.Is(err, ceph.ErrDenied) && !errors.Is(err, ceph.ErrNotFound) {
		return ceph.SubvolumePlace{}, err
	}
	if entry[journalBacking] != "" || Shows(v.Attributes) && entry == nil {
		return shown(ctx, cluster, filesystems[n], pools, v, entry[journalBacking])
	}
	if err == nil && entry == nil {
		*unrecorded = fmt.Sprintf("RADOS namespace %q of the metadata pool of filesystem %q", namespace, filesystems[n].Name)
	}
	return ceph.SubvolumePlace{
		Filesystem: filesystems[n].Name, Group: v.group(),
		Name: cmp.Or(entry[journalName], v.usual(handle.UUID)),
	}, nil
}

// ofSnapshot finds a snapshot, of which nothing but the journal knows the subvolume.
func ofSnapshot(filesystem string, v Volume, name ceph.JournalName, entry map[string]string, err error) (ceph.SubvolumePlace, error) {
	if err == nil && entry[journalSource] == "" {
		err = fmt.Errorf("%s of filesystem %q, which has the subvolume of the snapshot: %w", name.Object(), filesystem, ceph.ErrNotFound)
	}
	if err != nil {
		return ceph.SubvolumePlace{}, err
	}
	return ceph.SubvolumePlace{
		Filesystem: filesystem, Group: cmp.Or(v.Group, DefaultSubvolumeGroup),
		Name: entry[journalSource], Snapshot: cmp.Or(entry[journalName], v.usual(name.UUID)),
	}, nil
}

// shown finds the snapshot that a volume shows, by the handle of that.
func shown(ctx context.Context, cluster TagStore, f ceph.FileSystem, pools []ceph.Pool, v Volume, snapshot string) (ceph.SubvolumePlace, error) {
	handle, err := ceph.ParseVolumeHandle(snapshot)
	if err != nil || handle.LocationID != f.ID {
		return ceph.SubvolumePlace{}, fmt.Errorf("%w: the volume shows a snapshot", ErrNothingToTag)
	}
	name := ceph.JournalName{Kind: ceph.JournalSnapshot, UUID: handle.UUID}
	entry, err := metadataEntry(ctx, cluster, pools, f.MetadataPool, name, cmp.Or(v.Namespace, DefaultJournalNamespace))
	if err == nil && entry == nil {
		err = fmt.Errorf("%w: the volume shows a snapshot, of which there is no journal", ErrNothingToTag)
	}
	return ofSnapshot(f.Name, Volume{Snapshot: true, Group: v.Group}, name, entry, err)
}

// metadataEntry reads the journal from the metadata pool.
func metadataEntry(ctx context.Context, cluster TagStore, pools []ceph.Pool, pool int64, name ceph.JournalName, namespace string) (map[string]string, error) {
	n := slices.IndexFunc(pools, func(p ceph.Pool) bool { return p.ID == pool })
	if n < 0 {
		return nil, fmt.Errorf("metadata pool with ID %d: %w", pool, ceph.ErrNotFound)
	}
	return entryOf(ctx, cluster, pools[n].Name, name, namespace)
}

func defaultOf(filesystems []ceph.FileSystem) string {
	for _, f := range filesystems {
		if f.Default {
			return f.Name
		}
	}
	return ""
}

// group is that of the volume's path; of one that has none, what config.json says.
func (v Volume) group() string {
	if directory := Directory(v.Attributes); directory != "" {
		return groupOf(directory)
	}
	return cmp.Or(v.Group, DefaultSubvolumeGroup)
}

// groupOf is the group in what Directory returns.
func groupOf(directory string) string {
	group, inGroup := strings.CutPrefix(directory, groupsDirectory)
	switch {
	case !inGroup:
		return DefaultSubvolumeGroup
	case group == ungrouped:
		return ""
	}
	return group
}

// ofDirectory finds the subvolume in /volumes/<group>/<subvolume>, or below it. Who shows a snapshot of one has nothing
// of it.
func ofDirectory(filesystem, path string) (ceph.SubvolumePlace, error) {
	rest, inGroup := strings.CutPrefix(path, groupsDirectory)
	parts := strings.Split(rest, "/")
	if !inGroup || len(parts) < 2 || parts[0] == "" || parts[1] == "" || slices.Contains(parts, ceph.SnapshotsDirectory) {
		return ceph.SubvolumePlace{}, fmt.Errorf("%w: %q is not in a subvolume", ErrNothingToTag, path)
	}
	if parts[0] == ungrouped {
		parts[0] = ""
	}
	return ceph.SubvolumePlace{Filesystem: filesystem, Group: parts[0], Name: parts[1]}, nil
}

// Retag changes those of one filesystem after the other, as long as they follow each other.
func (subvolumes) Retag(ctx context.Context, cluster TagStore, changes []Retag) ([]error, error) {
	var out []error
	for len(changes) > 0 {
		filesystem := changes[0].subvolume.Filesystem
		var own []ceph.SubvolumeChange
		for len(own) < len(changes) && changes[len(own)].subvolume.Filesystem == filesystem {
			c := changes[len(own)]
			own = append(own, ceph.SubvolumeChange{At: c.subvolume, Was: c.Values, MetadataChange: c.MetadataChange})
		}
		errs, err := cluster.ChangeSubvolumeMetadata(ctx, filesystem, own)
		if ceph.NoAnswer(err) {
			return append(out, errs...), err
		}
		for len(errs) < len(own) {
			errs = append(errs, err)
		}
		out, changes = append(out, errs...), changes[len(own):]
	}
	return out, nil
}

func (subvolumes) Where(found Tags) string {
	if found.subvolume.Snapshot != "" {
		return "snapshot " + found.subvolume.String()
	}
	return "subvolume " + found.subvolume.String()
}

func (subvolumes) TagCommand(found Tags, key, value string) string {
	at := found.subvolume
	words := []string{"ceph", "fs", "subvolume", "metadata", "set", at.Filesystem, at.Name}
	if at.Snapshot != "" {
		words = []string{"ceph", "fs", "subvolume", "snapshot", "metadata", "set", at.Filesystem, at.Name, at.Snapshot}
	}
	words = append(words, key, value)
	if at.Group != "" {
		words = append(words, "--group_name", at.Group)
	}
	return shell.Command(words...)
}
