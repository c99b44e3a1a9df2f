package driver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/shell"
)

// Inventory is what one Ceph cluster has.
type Inventory struct {
	Pools       []ceph.Pool
	FileSystems []ceph.FileSystem
}

// Inventory reads what places of the driver are compared with.
func (d Driver) Inventory(ctx context.Context, cluster Lists) (has Inventory, err error) {
	if has.Pools, err = cluster.Pools(ctx); err == nil && d.NeedsFilesystem {
		has.FileSystems, err = cluster.FileSystems(ctx)
	}
	return has, err
}

// Survey compares what is named or in use with what a Ceph cluster has. It asks nobody.
type Survey interface {
	// Holding are the IDs of all pools of a place, of those that exist, sorted. ids are what
	// volume handles name: they outlive names.
	Holding(has Inventory, place ceph.Placement, ids []int64) []int64
	// Untold are the IDs of pools that may hold data of a place although nothing of a snapshot there
	// tells: neither its handle nor its header.
	Untold(has Inventory) []int64
	// Lacks says, in half a sentence each, what keeps a StorageClass from working that names the
	// place.
	Lacks(has Inventory, place ceph.Placement) []Lack
	// Lost says likewise what volumes have lost: a place that no longer exists.
	Lost(has Inventory, place ceph.Placement, ids []int64) []Lack
	// Grouped are the filesystems in which volumes at the place need the subvolume group, and
	// which can be asked for it.
	Grouped(has Inventory, place ceph.Placement) []string
	// Namespaced are the pools, of those that exist, in which images at the place need their RADOS
	// namespace.
	Namespaced(has Inventory, place ceph.Placement) []string
	// Create makes what the place lacks, if that is a replicated pool; it returns the pool's
	// name if there was something to do, even where that failed.
	Create(ctx context.Context, cluster Ceph, has Inventory, place ceph.Placement) (string, error)
}

// Lack is something that is missing or cannot be used.
type Lack struct {
	// Missing is the name of the pool or filesystem, if it does not exist at all.
	Missing string
	// Untagged says that the place is the right one, and that the caps of the drivers' users do not find it.
	Untagged bool
	// Text says what is wrong and how to mend it.
	Text string
}

func lack(format string, arguments ...any) Lack { return Lack{Text: fmt.Sprintf(format, arguments...)} }

func missing(name, format string, arguments ...any) Lack {
	return Lack{Missing: name, Text: fmt.Sprintf(format, arguments...)}
}

// Mistaken says that what a StorageClass names is there, but for something else: a class alone does not use it.
func Mistaken(survey Survey, has Inventory, place ceph.Placement) bool {
	return slices.ContainsFunc(survey.Lacks(has, place), func(l Lack) bool { return l.Missing == "" && !l.Untagged })
}

func (images) Holding(has Inventory, place ceph.Placement, ids []int64) []int64 {
	var out []int64
	for _, p := range has.Pools {
		named := p.Name == place.Pool || place.DataPool != "" && p.Name == place.DataPool
		if named || slices.Contains(ids, p.ID) {
			out = append(out, p.ID)
		}
	}
	slices.Sort(out)
	return out
}

// Untold are data pools: a snapshot's data is where that of its volume was.
func (images) Untold(has Inventory) []int64 {
	var out []int64
	for _, p := range has.Pools {
		if p.ErasureCoded {
			out = append(out, p.ID)
		}
	}
	return out
}

func (images) Lacks(has Inventory, place ceph.Placement) []Lack {
	var out []Lack
	pool, found := poolOf(has.Pools, place.Pool)
	switch {
	case !found:
		out = append(out, missing(place.Pool, "pool %q does not exist; create it: %s", place.Pool, creation(place.Pool)))
	case pool.ErasureCoded:
		out = append(out, lack("pool %q is erasure-coded and cannot hold the metadata of images; name a replicated one, and this one as dataPool", place.Pool))
	case ofOthers(pool):
		out = append(out, lack("pool %q belongs to application %s; name another", place.Pool, quoted(pool.Applications)))
	}
	if place.DataPool == "" {
		return out
	}
	data, found := poolOf(has.Pools, place.DataPool)
	switch {
	case !found:
		out = append(out, missing(place.DataPool, "data pool %q does not exist; create it in Ceph", place.DataPool))
	case ofOthers(data):
		out = append(out, lack("data pool %q belongs to application %s; name another", place.DataPool, quoted(data.Applications)))
	case data.ErasureCoded && !data.Overwrites:
		out = append(out, lack("data pool %q cannot be written in part; allow it: ceph osd pool set %s allow_ec_overwrites true", place.DataPool, shell.Quote(place.DataPool)))
	}
	return out
}

func (images) Lost(has Inventory, place ceph.Placement, ids []int64) []Lack {
	var out []Lack
	for _, id := range ids {
		if !slices.ContainsFunc(has.Pools, func(p ceph.Pool) bool { return p.ID == id }) {
			out = append(out, missing(nameOr(place.Pool, id), "the pool with ID %d%s does not exist any more", id, once(place.Pool)))
		}
	}
	if _, found := poolOf(has.Pools, place.Pool); len(ids) == 0 && place.Pool != "" && !found {
		out = append(out, missing(place.Pool, "pool %q does not exist", place.Pool))
	}
	if _, found := poolOf(has.Pools, place.DataPool); len(ids) == 0 && place.DataPool != "" && !found {
		out = append(out, missing(place.DataPool, "data pool %q does not exist", place.DataPool))
	}
	return out
}

func (images) Grouped(Inventory, ceph.Placement) []string { return nil }

// Namespaced leaves out the data pool: librbd looks for the namespace where it keeps the headers.
func (images) Namespaced(has Inventory, place ceph.Placement) []string {
	pool, found := poolOf(has.Pools, place.Pool)
	if !found || pool.ErasureCoded || !slices.Contains(pool.Applications, rbdApplication) {
		return nil
	}
	return []string{pool.Name}
}

func (images) Create(ctx context.Context, cluster Ceph, has Inventory, place ceph.Placement) (string, error) {
	pool, found := poolOf(has.Pools, place.Pool)
	if place.Pool == "" || found && (pool.ErasureCoded || len(pool.Applications) > 0) {
		return "", nil
	}
	return place.Pool, ensureOwnPool(ctx, cluster, has.Pools, place.Pool)
}

// filesystemsOf finds by name and by ID; volumes that tell neither are in the default one.
func filesystemsOf(has Inventory, place ceph.Placement, ids []int64) []ceph.FileSystem {
	unnamed := place.Filesystem == "" && len(ids) == 0
	var out []ceph.FileSystem
	for _, f := range has.FileSystems {
		if f.Name == place.Filesystem || slices.Contains(ids, f.ID) || unnamed && f.Default {
			out = append(out, f)
		}
	}
	return out
}

func (subvolumes) Holding(has Inventory, place ceph.Placement, ids []int64) []int64 {
	var out []int64
	for _, f := range filesystemsOf(has, place, ids) {
		out = append(append(out, f.MetadataPool), f.DataPools...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Untold is empty: a handle names the filesystem, which knows its pools.
func (subvolumes) Untold(Inventory) []int64 { return nil }

func (subvolumes) Lacks(has Inventory, place ceph.Placement) []Lack {
	filesystems := filesystemsOf(has, place, nil)
	if len(filesystems) == 0 {
		return []Lack{missing(place.Filesystem, "filesystem %q does not exist; create it: %s", place.Filesystem, createFilesystem(place.Filesystem))}
	}
	pool, found := poolOf(has.Pools, place.DataPool)
	switch {
	case place.DataPool == "":
	case !found:
		return []Lack{missing(place.DataPool, "data pool %q does not exist; create it in Ceph and add it to filesystem %q", place.DataPool, place.Filesystem)}
	case !slices.Contains(filesystems[0].DataPools, pool.ID):
		return []Lack{lack("pool %q holds no data of filesystem %q; add it: ceph fs add_data_pool %s %s",
			place.DataPool, place.Filesystem, shell.Quote(place.Filesystem), shell.Quote(place.DataPool))}
	}
	if why, commands := Untagged(has.Pools, filesystems[0]); len(commands) > 0 {
		return []Lack{{Untagged: true, Text: why + ": " + strings.Join(commands, " && ")}}
	}
	return nil
}

func (subvolumes) Lost(has Inventory, place ceph.Placement, ids []int64) []Lack {
	var out []Lack
	for _, id := range ids {
		if !slices.ContainsFunc(has.FileSystems, func(f ceph.FileSystem) bool { return f.ID == id }) {
			out = append(out, missing(nameOr(place.Filesystem, id), "the filesystem with ID %d%s does not exist any more", id, once(place.Filesystem)))
		}
	}
	if len(ids) == 0 && len(filesystemsOf(has, place, nil)) == 0 {
		out = append(out, missing(place.Filesystem, "filesystem %q does not exist", place.Filesystem))
	}
	return out
}

func (subvolumes) Grouped(has Inventory, place ceph.Placement) []string {
	var out []string
	for _, f := range filesystemsOf(has, place, nil) {
		if f.Active {
			out = append(out, f.Name)
		}
	}
	return out
}

// Namespaced is empty: what is recorded in a RADOS namespace needs no list of them.
func (subvolumes) Namespaced(Inventory, ceph.Placement) []string { return nil }

// Create makes nothing: filesystems are the administrator's to make.
func (subvolumes) Create(context.Context, Ceph, Inventory, ceph.Placement) (string, error) {
	return "", nil
}

func nameOr(name string, id int64) string { return cmp.Or(name, fmt.Sprintf("ID %d", id)) }

func once(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf(", once %q,", name)
}
