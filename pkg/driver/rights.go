package driver

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

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
	// Named says that nothing is there yet as far as is known: StorageClasses name it, and may be Mistaken.
	Named bool
}

// UserCaps are the caps of a driver's two users.
type UserCaps struct {
	Provisioner, Node ceph.Caps
	// LeftOut are names that cannot be written in caps, so that nobody has rights there.
	LeftOut []string
}

// Rights tells the narrowest caps with which ceph-csi was seen to work.
type Rights interface {
	// Caps are those that volumes at these places need, and at places that have the claim. Equal
	// places give equal texts, in any order. What Ceph does not have is left out, unless its name
	// alone says what to grant.
	Caps(ctx context.Context, cluster Lists, claim string, places []Used) (UserCaps, error)
}

// Caps has one grant per pool, for the controllers as for the nodes: both open images, and
// both may have to flatten them. The claim alone is not enough: for snapshots, and for the first
// use of a pool, the mons look for a grant by name, in what the user has now. The mgr knows
// nothing of claims.
func (images) Caps(ctx context.Context, cluster Lists, claim string, places []Used) (UserCaps, error) {
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
	all := slices.Concat(pools, dataPools)
	caps := ceph.Caps{
		// Has what a node needs to fence another one that is gone.
		Mon: "profile rbd",
		Mgr: ceph.Grants(profiles(pools)...),
		OSD: ceph.Grants(append(profiles(all), claimed("rwx", rbdApplication, claim)...)...),
	}
	return UserCaps{Provisioner: caps, Node: caps, LeftOut: unwritable(all)}, nil
}

func profiles(pools []string) []string {
	return grants(pools, func(pool string) string { return "profile rbd pool=" + pool })
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

// mountedBy begins the keys under which nodes note the user with whom they mount a volume, since ceph-csi 3.16.
const mountedBy = ".cephfs.csi.ceph.com/userid/"

// controllersAsk are the commands of the mgr that ceph-csi's controllers send with a group, and nodesAsk and nodesNote
// those of its nodes.
var (
	nodesAsk       = []string{"fs subvolume info", "fs subvolume snapshot info"}
	nodesNote      = []string{"fs subvolume metadata set", "fs subvolume snapshot metadata set"}
	controllersAsk = []string{
		"fs subvolumegroup create",
		"fs subvolume create", "fs subvolume rm", "fs subvolume resize", "fs subvolume pin", "fs subvolume info", "fs subvolume getpath",
		"fs subvolume metadata set", "fs subvolume metadata ls", "fs subvolume metadata rm",
		"fs subvolume snapshot create", "fs subvolume snapshot rm", "fs subvolume snapshot info",
		"fs subvolume snapshot metadata set", "fs subvolume snapshot metadata ls", "fs subvolume snapshot metadata rm",
		"fs clone status", "fs clone cancel",
	}
)

// Caps lets the controllers reach their journal, and the mgr, which makes the subvolumes, in the groups
// that are theirs; in whatever filesystem, as a session keeps the caps with which it began. Nodes read
// the journal, ask the mgr where a subvolume or a snapshot is, note there by whom it is mounted, and mount the
// directories of the subvolume groups and nothing above them.
func (subvolumes) Caps(ctx context.Context, cluster Lists, claim string, places []Used) (UserCaps, error) {
	caps := UserCaps{
		// "profile rbd" cannot list filesystems.
		Provisioner: ceph.Caps{Mon: "allow r"},
		Node:        ceph.Caps{Mon: "allow r"},
	}
	if len(places) == 0 {
		return caps, nil
	}
	filesystems, err := cluster.FileSystems(ctx)
	if err != nil {
		return UserCaps{}, err
	}
	var journals, reads, data, groups, manages, asks, mounts []string
	for name, share := range sharesOf(filesystems, places) {
		caps.LeftOut = append(caps.LeftOut, unwritable(share.all())...)
		filesystem, err := ceph.CapFilesystem(name)
		if err != nil {
			caps.LeftOut = append(caps.LeftOut, name)
			continue
		}
		tag := " tag cephfs metadata=" + filesystem
		for _, namespace := range names(share.namespaces) {
			journals = append(append(journals, "allow rw"+namespace+tag), claimed("rw"+namespace, cephFSApplication, claim)...)
			reads = append(append(reads, "allow r"+namespace+tag), claimed("r"+namespace, cephFSApplication, claim)...)
		}
		data = append(data, "allow rw tag cephfs data="+filesystem)
		groups = append(groups, share.groups...)
		manages = slices.Concat(manages, commands(controllersAsk, "", share.groups), clones(share.groups))
		asks = append(asks, commands(nodesAsk, "vol_name="+filesystem+" ", share.mounted())...)
		asks = append(asks, commands(nodesNote, "vol_name="+filesystem+" key_name prefix "+mountedBy+" ", share.mounted())...)
		mounts = append(mounts, grants(share.directories, func(path string) string {
			return "allow rw fsname=" + filesystem + " path=" + path
		})...)
	}
	slices.Sort(caps.LeftOut)
	caps.LeftOut = slices.Compact(caps.LeftOut)
	caps.Provisioner.OSD = ceph.Grants(journals...)
	caps.Provisioner.Mgr = ceph.Grants(append(manages, quiesces(groups)...)...)
	caps.Node.Mgr = ceph.Grants(asks...)
	caps.Node.OSD = ceph.Grants(slices.Concat(reads, data)...)
	caps.Node.MDS = ceph.Grants(mounts...)
	return caps, nil
}

// commands are grants of commands of the mgr on subvolumes in groups. (A grant of its module of subvolumes
// cannot be bound to a group: the module does not look.)
func commands(prefixes []string, with string, groups []string) []string {
	var out []string
	for _, prefix := range prefixes {
		out = append(out, grants(groups, func(group string) string {
			return `allow command "` + prefix + `" with ` + with + "group_name=" + group
		})...)
	}
	return out
}

// clones are grants of copies that stay in their group.
func clones(groups []string) []string {
	return grants(groups, func(group string) string {
		return `allow command "fs subvolume snapshot clone" with group_name=` + group + " target_group_name=" + group
	})
}

// member matches a subvolume in its group as "fs quiesce" names it, with the characters that Ceph allows. A name that
// begins with a dot could be "..", which leads out of the group.
const member = "/[A-Za-z0-9_-][A-Za-z0-9_.-]*"

var groupForm = regexp.MustCompile("^[A-Za-z0-9_.-]+$")

// quiesces are grants of the command with which controllers have clients of all members hold still for a group's
// snapshot, since Ceph 19.2, and let them go on by the name that they gave to that. They send no argument with a group;
// the mgr compares the members as the text "[group/name,group/name]". Backslashes do not reach it.
func quiesces(groups []string) []string {
	var all []string
	for _, group := range slices.Compact(slices.Sorted(slices.Values(groups))) {
		if groupForm.MatchString(group) {
			all = append(all, strings.ReplaceAll(group, ".", "[.]"))
		}
	}
	if len(all) == 0 {
		return nil
	}
	one := "(" + strings.Join(all, "|") + ")" + member
	return []string{
		`allow command "fs quiesce" with members regex "[[]` + one + "(," + one + `)*[]]"`,
		`allow command "fs quiesce" with release=1`,
	}
}

// names are RADOS namespaces as a grant has them, in front of its tag.
func names(namespaces []string) []string {
	return grants(namespaces, func(namespace string) string { return " namespace=" + namespace })
}

// DefaultJournalNamespace is where ceph-csi keeps the journal of subvolumes unless told otherwise.
const DefaultJournalNamespace = "csi"

// share is what is used of a filesystem: directories that nodes mount, RADOS namespaces of the metadata pool
// that hold the journal, and the subvolume groups that ceph-csi's controllers name to the mgr, which are those of config.json.
type share struct{ directories, namespaces, groups []string }

func (s share) all() []string { return slices.Concat(s.directories, s.namespaces) }

// mounted are the subvolume groups of the directories; an administrator's own have none. Nodes ask in that which the attribute
// subvolumeGroup of a volume names, if it has one (NewVolumeOptionsFromVolID in ceph-csi's internal/cephfs/store).
func (s share) mounted() []string {
	var out []string
	for _, directory := range s.directories {
		if group, found := strings.CutPrefix(directory, groupsDirectory); found {
			out = append(out, group)
		}
	}
	return out
}

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
			if name == "" {
				continue
			}
			out[name] = share{
				directories: append(append(out[name].directories, GroupDirectory(p.SubvolumeGroup)), p.Directories...),
				namespaces:  append(out[name].namespaces, cmp.Or(p.Namespace, p.JournalNamespace, DefaultJournalNamespace)),
				groups:      append(out[name].groups, cmp.Or(p.SubvolumeGroup, DefaultSubvolumeGroup)),
			}
		}
	}
	return out
}

// grants has one grant for each name. Names that cannot be written, which are a mistake in a class,
// are left out.
func grants(names []string, form func(name string) string) []string {
	var out []string
	for _, name := range names {
		if written := grantName(name); written != "" {
			out = append(out, form(written))
		}
	}
	return out
}

// unwritable are the names that grants leaves out, each once.
func unwritable(names []string) []string {
	var out []string
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if name != "" && grantName(name) == "" {
			out = append(out, name)
		}
	}
	return out
}

func grantName(name string) string {
	written, err := ceph.CapName(name)
	if err != nil {
		return ""
	}
	return written
}
