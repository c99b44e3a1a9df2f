package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/shell"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

// driverChecks are the rows of one driver.
func driverChecks(d driver.Driver) []check {
	group := profiles[d.Kind].group
	return []check{
		{group, "volumes", session, func(config Config, f facts) []Line { return volumes(d, config, f) }},
		{group, "ms_mode", session, func(config Config, f facts) []Line { return msMode(d, config, f) }},
	}
}

// volumes tells where the volumes of the default StorageClass would be.
func volumes(d driver.Driver, config Config, f facts) []Line {
	const name = "volumes"
	if _, err := f.cluster.settings(d); err != nil {
		return []Line{wrong(name, err.Error(), "oc edit clustercsidriver "+d.Name)}
	}
	p := f.places[d.Name]
	if p.err != nil {
		return []Line{noPlace(d, p, f)}
	}
	var lines []Line
	if p.Pool != "" {
		lines = append(lines, poolLine(p, f))
		lines = append(lines, dataLine(config, d, p, f)...)
	}
	if p.Filesystem != "" {
		lines = append(lines, right("filesystem", "%s has an active MDS", p.Filesystem), groupLine(config, d, p, f))
		lines = append(lines, untagged("filesystem pools", p.Filesystem, config, f)...)
	}
	return lines
}

// untagged tells of a filesystem's pools to which users with narrow caps have no right.
func untagged(name, filesystem string, config Config, f facts) []Line {
	i := slices.IndexFunc(f.filesystems.value, func(fs ceph.FileSystem) bool { return fs.Name == filesystem })
	if i < 0 {
		return nil
	}
	why, commands := driver.Untagged(f.pools.value, f.filesystems.value[i])
	switch {
	case len(commands) == 0:
		return nil
	case f.mintsFor(config):
		return []Line{wrong(name, why, commands...)}
	}
	return []Line{note(name, why, commands...)}
}

// noPlace says why there is no place for volumes, and how to make one.
func noPlace(d driver.Driver, p place, f facts) Line {
	name := "volumes"
	switch {
	case errors.Is(p.err, ceph.ErrTimeout), errors.Is(p.err, context.DeadlineExceeded):
		return unanswered(name, p.err)
	case errors.Is(p.err, driver.ErrNoFilesystem):
		return wrong("filesystem", p.err.Error(), shell.Command("ceph", "fs", "volume", "create", cmp.Or(p.Filesystem, "cephfs")))
	case errors.Is(p.err, ceph.ErrNoActiveMDS):
		fs := p.Filesystem
		if fs == "" && len(f.filesystems.value) == 1 {
			fs = f.filesystems.value[0].Name
		}
		return wrong("filesystem", p.err.Error(), "ceph fs status "+shell.Quote(fs), "ceph orch apply mds "+shell.Quote(fs)+"  # or start an MDS in your own way")
	case errors.Is(p.err, driver.ErrFilesystemUnclear):
		return wrong("filesystem", p.err.Error(), "ceph fs ls  # then name one with --filesystem")
	case errors.Is(p.err, driver.ErrNoPool) && p.Pool != "":
		return wrong("pool", p.err.Error(), makePool(p.Pool)...)
	case errors.Is(p.err, driver.ErrNoPool):
		return wrong("pool", p.err.Error(), makePool(p.own)...)
	case errors.Is(p.err, ceph.ErrDenied) && d.NeedsFilesystem:
		return wrong("filesystem", "the user may not see filesystems: "+p.err.Error(), setCaps(f.user.value, passthroughCaps))
	}
	return unanswered(name, p.err)
}

// makePool makes a pool for images. While the operator's own name for one is not known, the
// only pool of application rbd does as well.
func makePool(name string) []string {
	if strings.HasPrefix(name, placeholder) {
		name = "rbd"
	}
	return []string{shell.Command("ceph", "osd", "pool", "create", name), shell.Command("ceph", "osd", "pool", "application", "enable", name, "rbd")}
}

func poolLine(p place, f facts) Line {
	const name = "pool"
	i := slices.IndexFunc(f.pools.value, func(known ceph.Pool) bool { return known.Name == p.Pool })
	switch {
	case i < 0:
		return right(name, "%s is not there yet: the operator makes it", p.Pool)
	case len(f.pools.value[i].Applications) == 0:
		return note(name, p.Pool+" has no application: Ceph warns of that (POOL_APP_NOT_ENABLED)",
			shell.Command("ceph", "osd", "pool", "application", "enable", p.Pool, "rbd"))
	}
	return right(name, "%s exists, for application %s", p.Pool, strings.Join(f.pools.value[i].Applications, ", "))
}

// defaultDataPool is an option of clients.
const defaultDataPool = "rbd_default_data_pool"

// dataLine tells of a pool that gets the data of images unasked: users with narrow caps have no right to it.
func dataLine(config Config, d driver.Driver, p place, f facts) []Line {
	const name = "data pool"
	pool := f.dataPool.value
	switch {
	case f.dataPool.err != nil:
		return []Line{unanswered(name, f.dataPool.err)}
	case pool == "":
		return nil
	}
	var astray []string
	for _, at := range append(usage.Of(d, nil, f.cluster.classes.value, nil).Places, usage.Place{Placement: p.Placement, Classes: []string{d.StorageClass}}) {
		switch {
		case at.FSID != f.fsid.value:
		case at.Pool == pool, at.DataPool == pool:
			return nil
		case at.DataPool == "":
			astray = append(astray, at.Classes...)
		}
	}
	if len(astray) == 0 {
		return nil
	}
	slices.Sort(astray)
	line := note(name, fmt.Sprintf("%s of Ceph's configuration is %q: data of images of StorageClasses %s goes there, to which users that the operator makes have no right",
		defaultDataPool, pool, strings.Join(slices.Compact(astray), ", ")),
		fmt.Sprintf("oc edit clustercsidriver %s  # set ceph.dataPool: %s, and parameter dataPool of StorageClasses of your own", d.Name, pool),
		"ceph config rm client "+defaultDataPool+"  # or this, or in the section that `ceph config dump` shows")
	if f.mintsFor(config) {
		line.State = Wrong
	}
	return []Line{line}
}

func groupLine(config Config, d driver.Driver, p place, f facts) Line {
	const name = "subvolume group"
	known := f.groups[p.Filesystem]
	group := f.group(config, d, p)
	make := shell.Command("ceph", "fs", "subvolumegroup", "create", p.Filesystem, group)
	may, unknown := f.may(ceph.TryMakeGroup)
	switch {
	case known.known() && slices.Contains(known.value, group):
		return right(name, "%s exists in filesystem %s", group, p.Filesystem)
	case errors.Is(known.err, ceph.ErrTimeout):
		return wrong(name, "the mgr does not answer: "+known.err.Error(), "ceph mgr stat", "ceph mgr fail")
	case unknown != nil:
		return unanswered(name, unknown)
	case may:
		return right(name, "%s is not there yet: the operator makes it", group)
	case known.known():
		return wrong(name, fmt.Sprintf("%s is missing in filesystem %s, and %s may not make it", group, p.Filesystem, f.user.value.Entity()), make)
	}
	return wrong(name, fmt.Sprintf("%s may neither see nor make subvolume group %s", f.user.value.Entity(), group),
		make, setCaps(f.user.value, passthroughCaps))
}

// group is that of the settings; else the cluster's own, where it is there already or the operator is going
// to make users for it alone; else ceph-csi's.
func (f facts) group(config Config, d driver.Driver, p place) string {
	own := infrastructureName(f.cluster.infrastructure.value)
	settings, _ := f.cluster.settings(d)
	switch {
	case settings.SubvolumeGroup == "" && slices.Contains(f.groups[p.Filesystem].value, own),
		settings.SubvolumeGroup == "" && f.mintsFor(config) && f.cluster.class(d.StorageClass) == nil:
		return own
	}
	return p.SubvolumeGroup
}
