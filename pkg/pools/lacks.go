package pools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/shell"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

// listDeadline bounds one list of RADOS namespaces, which an OSD has to answer, or of subvolume groups, which the mgr
// has to: marks need neither, and come afterwards.
const listDeadline = 5 * time.Second

// listing is what a filesystem or a pool had at a time.
type listing struct {
	at    time.Time
	names []string
}

// lacks says what a place that classes name lacks, after what may be made has been made.
func (l *look) lacks(ctx context.Context, place usage.Place) ([]driver.Lack, error) {
	var refused []driver.Lack
	if l.create {
		made, err := l.Driver.Storage.Create(ctx, l.client, l.has, place.Placement)
		if ceph.NoAnswer(err) {
			return nil, err
		}
		if err != nil {
			refused = append(refused, driver.Lack{Text: err.Error()})
		}
		if made != "" && err == nil {
			l.Recorder.Eventf("CephPoolCreated", "Created pool %q in Ceph cluster %s, as a StorageClass names it", made, l.cluster.FSID)
			if l.has.Pools, err = l.client.Pools(ctx); err != nil {
				return nil, err
			}
		}
	}
	groups, err := l.groups(ctx, place)
	if err != nil {
		return nil, err
	}
	namespaces, err := l.namespaces(ctx, place)
	lacks := slices.DeleteFunc(l.Driver.Storage.Lacks(l.has, place.Placement), func(lack driver.Lack) bool { return lack.Untagged && !l.minted })
	return slices.Concat(lacks, refused, groups, namespaces), err
}

// groups looks for the subvolume group where the other controller of this package does not.
func (l *look) groups(ctx context.Context, place usage.Place) ([]driver.Lack, error) {
	group, known := place.Group, place.Group != ""
	if !known {
		group, known = l.group()
	}
	if !known {
		return nil, nil
	}
	var out []driver.Lack
	for _, filesystem := range l.Driver.Storage.Grouped(l.has, place.Placement) {
		if place.Group == "" && l.place.FSID == l.cluster.FSID && l.place.Filesystem == filesystem {
			continue
		}
		lacks, err := l.part(ctx, l.view.groups, part{
			place: filesystem, name: group,
			silent: &l.silentManager,
			list:   func(ctx context.Context) ([]string, error) { return l.client.SubvolumeGroups(ctx, filesystem) },
			make:   func(ctx context.Context) error { return l.client.EnsureSubvolumeGroup(ctx, filesystem, group) },
			event:  "CephSubvolumeGroupCreated", created: fmt.Sprintf("subvolume group %q of filesystem %q", group, filesystem),
			lack: fmt.Sprintf("filesystem %q has no subvolume group %q; create it: ceph fs subvolumegroup create %s %s", filesystem, group, shell.Quote(filesystem), shell.Quote(group)),
		})
		if err != nil {
			return nil, err
		}
		out = append(out, lacks...)
	}
	return out, nil
}

// group is the subvolume group that ceph-csi uses in the cluster, once config.json has that.
func (l *look) group() (string, bool) {
	i := slices.IndexFunc(l.usage.Config, func(e ceph.ConfigEntry) bool { return e.ClusterID == l.cluster.FSID })
	if i < 0 {
		return "", false
	}
	return cmp.Or(l.usage.Config[i].SubvolumeGroup, driver.DefaultSubvolumeGroup), true
}

// namespaces looks for the RADOS namespace of images; librbd makes none by itself.
func (l *look) namespaces(ctx context.Context, place usage.Place) ([]driver.Lack, error) {
	namespace := place.RADOSNamespace
	if namespace == "" {
		return nil, nil
	}
	var out []driver.Lack
	for _, pool := range l.Driver.Storage.Namespaced(l.has, place.Placement) {
		lacks, err := l.part(ctx, l.view.namespaces, part{
			place: pool, name: namespace,
			silent: &l.silentOSDs,
			list:   func(ctx context.Context) ([]string, error) { return l.client.ImageNamespaces(ctx, pool) },
			make:   func(ctx context.Context) error { return l.client.CreateNamespace(ctx, pool, namespace) },
			event:  "CephNamespaceCreated", created: fmt.Sprintf("RADOS namespace %q in pool %q", namespace, pool),
			lack: fmt.Sprintf("pool %q has no RADOS namespace %q, which config.json names for its clusterID; create it: rbd namespace create %s",
				pool, namespace, shell.Quote(pool+"/"+namespace)),
		})
		if err != nil {
			return nil, err
		}
		out = append(out, lacks...)
	}
	return out, nil
}

// part is something within a pool or a filesystem that classes need.
type part struct {
	place, name string
	// silent says that who lists gave no answer in this look, and is not waited for again.
	silent *bool
	list   func(ctx context.Context) ([]string, error)
	make   func(ctx context.Context) error
	// event and created tell that it was made, lack that it is missing.
	event, created, lack string
}

// part looks for one, rarely once it is there, and makes it where the settings say so.
func (l *look) part(ctx context.Context, known map[string]listing, p part) ([]driver.Lack, error) {
	seen, listed := known[p.place]
	if !listed || l.Clock.Since(seen.at) >= groupInterval || !slices.Contains(seen.names, p.name) {
		if *p.silent {
			return nil, nil
		}
		names, err := p.listInTime(ctx)
		if untold(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		seen = listing{at: l.Clock.Now(), names: names}
		known[p.place] = seen
	}
	if slices.Contains(seen.names, p.name) {
		return nil, nil
	}
	lacks := []driver.Lack{{Missing: p.place + "/" + p.name, Text: p.lack}}
	if !l.create {
		return lacks, nil
	}
	err := p.make(ctx)
	if err == nil {
		l.Recorder.Eventf(p.event, "Created %s of Ceph cluster %s, as a StorageClass needs it", p.created, l.cluster.FSID)
		known[p.place] = listing{at: seen.at, names: append(slices.Clone(seen.names), p.name)}
		return nil, nil
	}
	return append(lacks, driver.Lack{Text: err.Error()}), nil
}

func (p part) listInTime(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, listDeadline)
	defer cancel()
	names, err := p.list(ctx)
	*p.silent = errors.Is(err, ceph.ErrTimeout)
	return names, err
}

// untold says that it cannot be told whether something is there: daemons that are silent, or refuse
// to say, such as a mgr whose module has failed, say nothing against a class.
func untold(err error) bool {
	for _, reason := range []error{ceph.ErrDenied, ceph.ErrNoActiveMDS, ceph.ErrTimeout, ceph.ErrNotFound} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return ceph.Errno(err) != 0
}
