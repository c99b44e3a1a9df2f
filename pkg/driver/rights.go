package driver

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Lists is what Rights reads of a Ceph cluster.
type Lists interface {
	Pools(ctx context.Context) ([]ceph.Pool, error)
	FileSystems(ctx context.Context) ([]ceph.FileSystem, error)
}

// Used is a place with classes or volumes that the driver's users need rights to.
type Used struct {
	ceph.Placement
	// IDs are those of pools, or filesystems, in volume handles: names change.
	IDs []int64
	// Directories are parts of the filesystem that volumes are in, beside Placement's group.
	Directories []string
	// Namespace is the RADOS namespace; empty for ceph-csi's own choice.
	Namespace string
}

// UserCaps are the caps of a driver's two users.
type UserCaps struct{ Provisioner, Node ceph.Caps }

// Rights tells the narrowest caps with which ceph-csi was seen to work.
type Rights interface {
	// Caps are those that volumes at these places need. Equal places give equal texts, in any
	// order. What Ceph does not have is left out, unless its name alone says what to grant.
	Caps(ctx context.Context, cluster Lists, places []Used) (UserCaps, error)
}

// Caps has one grant per pool, for the controllers as for the nodes: both open images, and
// both may have to flatten them.
func (images) Caps(ctx context.Context, cluster Lists, places []Used) (UserCaps, error) {
	byID, err := poolNames(ctx, cluster, places)
	if err != nil {
		return UserCaps{}, err
	}
	var pools, dataPools []string
	for _, p := range places {
		pools, dataPools = append(pools, p.Pool), append(dataPools, p.DataPool)
		for _, id := range p.IDs {
			pools = append(pools, byID[id])
		}
	}
	caps := ceph.Caps{
		// Has what a node needs to fence another one that is gone.
		Mon: "profile rbd",
		Mgr: grants("profile rbd pool=%s", pools),
		OSD: grants("profile rbd pool=%s", slices.Concat(pools, dataPools)),
	}
	return UserCaps{Provisioner: caps, Node: caps}, nil
}

// poolNames asks Ceph only where a volume handle names a pool.
func poolNames(ctx context.Context, cluster Lists, places []Used) (map[int64]string, error) {
	if !slices.ContainsFunc(places, func(p Used) bool { return len(p.IDs) > 0 }) {
		return nil, nil
	}
	pools, err := cluster.Pools(ctx)
	if err != nil {
		return nil, err
	}
	names := map[int64]string{}
	for _, p := range pools {
		names[p.ID] = p.Name
	}
	return names, nil
}

// Caps lets the controllers reach their journal and the mgr, which makes the subvolumes; nodes
// mount the directories of the subvolume groups and nothing above them.
func (subvolumes) Caps(ctx context.Context, cluster Lists, places []Used) (UserCaps, error) {
	caps := UserCaps{
		// "profile rbd" cannot list filesystems.
		Provisioner: ceph.Caps{Mon: "allow r", Mgr: "allow module volumes rw"},
		Node:        ceph.Caps{Mon: "allow r"},
	}
	if len(places) == 0 {
		return caps, nil
	}
	filesystems, err := cluster.FileSystems(ctx)
	if err != nil {
		return UserCaps{}, err
	}
	pools, err := cluster.Pools(ctx)
	if err != nil {
		return UserCaps{}, err
	}
	all := sharesOf(filesystems, places)
	var journals, data, mounts []string
	for _, p := range pools {
		for _, f := range filesystems {
			if f.MetadataPool == p.ID && grantName(p.Name) != "" {
				journals = append(journals, grants("allow rw pool="+grantName(p.Name)+" namespace=%s", all[f.Name].namespaces))
			}
		}
	}
	for filesystem, share := range all {
		data = append(data, filesystem)
		mounts = append(mounts, grants("allow rw fsname="+grantName(filesystem)+" path=%s", share.directories))
	}
	caps.Provisioner.OSD = ceph.Grants(journals...)
	caps.Node.OSD = grants("allow rw tag cephfs data=%s", data)
	caps.Node.MDS = ceph.Grants(mounts...)
	return caps, nil
}

// journalNamespace is where ceph-csi keeps the journal of subvolumes unless told otherwise.
const journalNamespace = "csi"

// share is what is used of a filesystem: directories that nodes mount, and RADOS namespaces of the
// metadata pool that hold the journal.
type share struct{ directories, namespaces []string }

// sharesOf are by filesystem. One that volume handles name has the name that it has now.
func sharesOf(filesystems []ceph.FileSystem, places []Used) map[string]share {
	out := map[string]share{}
	for _, p := range places {
		names := []string{p.Filesystem}
		for _, f := range filesystems {
			if slices.Contains(p.IDs, f.ID) {
				names = append(names, f.Name)
			}
		}
		for _, name := range names {
			if grantName(name) == "" {
				continue
			}
			out[name] = share{
				directories: append(append(out[name].directories, groupDirectory(p.SubvolumeGroup)), p.Directories...),
				namespaces:  append(out[name].namespaces, cmp.Or(p.Namespace, journalNamespace)),
			}
		}
	}
	return out
}

// grants has one grant for each name, in the place of %s. Names that cannot be written, which
// are a mistake in a class, are left out.
func grants(form string, names []string) string {
	var out []string
	for _, name := range names {
		if written := grantName(name); written != "" {
			out = append(out, fmt.Sprintf(form, written))
		}
	}
	return ceph.Grants(out...)
}

func grantName(name string) string {
	written, err := ceph.CapName(name)
	if err != nil {
		return ""
	}
	return written
}
