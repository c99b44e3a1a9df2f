package images

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown/teardowntest"
)

// fakeRBD behaves as librbd 16.2.15 was seen to.
type fakeRBD struct {
	mu         sync.Mutex
	pools      []ceph.Pool
	namespaces map[string][]string
	images     map[ceph.ImageRef]*ceph.RBDImage
	groups     map[ceph.GroupRef]*ceph.RBDGroup
	// journals by pool, RADOS namespace and object.
	journals map[[3]string]map[string]string
	records  map[[3]string][]byte
	users    map[ceph.ImageRef]ceph.ImageUse
	// busy counts how often an image is still busy.
	busy map[string]int

	// steps counts changes; before number dieAt the process dies. 0 means that it lives.
	steps, dieAt int
	// listed counts how often a whole pool was listed.
	listed int
	queued []string
}

func newFakeRBD() *fakeRBD {
	return &fakeRBD{
		pools: []ceph.Pool{{ID: 1, Name: "rbd", Applications: []string{"rbd"}}, {ID: 2, Name: "other", Applications: []string{"rbd"}},
			{ID: 3, Name: "files", Applications: []string{"cephfs"}}},
		namespaces: map[string][]string{"rbd": {"", "tenant"}, "other": {""}},
		images:     map[ceph.ImageRef]*ceph.RBDImage{}, groups: map[ceph.GroupRef]*ceph.RBDGroup{}, journals: map[[3]string]map[string]string{},
		records: map[[3]string][]byte{}, users: map[ceph.ImageRef]ceph.ImageUse{}, busy: map[string]int{},
	}
}

// step is one change; work is done unless the process is dead.
func (f *fakeRBD) step(work func()) error {
	f.steps++
	if f.dieAt > 0 && f.steps >= f.dieAt {
		return teardowntest.ErrKilled
	}
	work()
	return nil
}

func (f *fakeRBD) Pools(context.Context) ([]ceph.Pool, error) { return f.pools, nil }

func (f *fakeRBD) ImageNamespaces(_ context.Context, pool string) ([]string, error) {
	return f.namespaces[pool], nil
}

func (f *fakeRBD) Images(_ context.Context, pool ceph.Pool, namespace string) ([]ceph.RBDImage, error) {
	var out []ceph.RBDImage
	for _, i := range f.images {
		if i.Pool == pool.Name && i.Namespace == namespace {
			image := *i
			image.Metadata = maps.Clone(i.Metadata)
			image.Snapshots = slices.Clone(i.Snapshots)
			for n := range image.Snapshots {
				image.Snapshots[n].Children = slices.Clone(image.Snapshots[n].Children)
			}
			if i.Trash != nil {
				entry := *i.Trash
				image.Trash = &entry
			}
			out = append(out, image)
		}
	}
	slices.SortFunc(out, func(a, b ceph.RBDImage) int { return strings.Compare(a.Name+a.ID, b.Name+b.ID) })
	return out, nil
}

func (f *fakeRBD) ImageGroups(_ context.Context, pool ceph.Pool, namespace string) ([]ceph.RBDGroup, error) {
	var out []ceph.RBDGroup
	for _, g := range f.groups {
		if g.Pool == pool.Name && g.Namespace == namespace {
			out = append(out, *g)
		}
	}
	return out, nil
}

func (f *fakeRBD) ImageJournals(_ context.Context, pool string, namespaces []string, names []ceph.JournalName) ([]ceph.JournalPiece, error) {
	objects := slices.Clone(ceph.JournalDirectories)
	for _, n := range names {
		objects = append(objects, n.Object())
	}
	var out []ceph.JournalPiece
	for _, namespace := range namespaces {
		for _, object := range objects {
			if omap := f.journals[[3]string{pool, namespace, object}]; omap != nil {
				out = append(out, ceph.JournalPiece{Namespace: namespace, Object: object, Omap: maps.Clone(omap)})
			}
		}
	}
	return out, nil
}

func (f *fakeRBD) Journals(_ context.Context, pool string, _ ...string) ([]ceph.JournalPiece, error) {
	f.listed++
	var out []ceph.JournalPiece
	for at, omap := range f.journals {
		if at[0] == pool {
			out = append(out, ceph.JournalPiece{Namespace: at[1], Object: at[2], Omap: maps.Clone(omap)})
		}
	}
	return out, nil
}

func (f *fakeRBD) ImageUsers(_ context.Context, pool, namespace string, ids []string) (map[string]ceph.ImageUse, error) {
	out := map[string]ceph.ImageUse{}
	for ref, use := range f.users {
		if i := f.images[ref]; i != nil && i.Pool == pool && i.Namespace == namespace && slices.Contains(ids, i.ID) {
			out[i.ID] = use
		}
	}
	return out, nil
}

func (f *fakeRBD) SetImageMetadata(_ context.Context, image ceph.RBDImage, key, value string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.step(func() {
		i := f.images[image.ImageRef]
		if i.Metadata == nil {
			i.Metadata = map[string]string{}
		}
		i.Metadata[key] = value
	})
}

func (f *fakeRBD) RemoveImageSnapshots(_ context.Context, image ceph.RBDImage, snapshots []ceph.ImageSnapshot) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.images[image.ImageRef]
	for _, s := range snapshots {
		n := slices.IndexFunc(i.Snapshots, func(o ceph.ImageSnapshot) bool { return o.ID == s.ID })
		if n < 0 {
			continue
		}
		if i.Snapshots[n].Protected && len(i.Snapshots[n].Children) > 0 {
			return teardowntest.Errno("rbd snap unprotect", syscall.EBUSY)
		}
		err := f.step(func() {
			if len(i.Snapshots[n].Children) > 0 {
				i.Snapshots[n].Kind, i.Snapshots[n].Name = ceph.TrashSnapshot, "random"
				return
			}
			i.Snapshots = slices.Delete(i.Snapshots, n, n+1)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *fakeRBD) TrashImage(_ context.Context, image ceph.RBDImage) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.images[image.ImageRef]
	if err := f.step(func() { i.Trash = &ceph.TrashEntry{Name: i.Name, State: ceph.TrashMoving} }); err != nil {
		return err
	}
	return f.step(func() { i.Listed, i.Trash.State = false, ceph.TrashNormal })
}

func (f *fakeRBD) RemoveTrash(_ context.Context, image ceph.RBDImage) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.images[image.ImageRef]
	switch {
	case i == nil:
		return nil
	case f.busy[i.Name] > 0:
		f.busy[i.Name]--
		return teardowntest.Errno("rbd trash rm", syscall.EBUSY)
	case i.Trash == nil || i.Trash.State == ceph.TrashMoving:
		return teardowntest.Errno("rbd trash rm", syscall.EUCLEAN)
	case len(i.Snapshots) > 0:
		return teardowntest.Errno("rbd trash rm", syscall.ENOTEMPTY)
	case i.Group != nil:
		return teardowntest.Errno("rbd trash rm", syscall.EMLINK)
	}
	for _, work := range []func(){
		func() { i.Trash.State = ceph.TrashRemoving },
		func() { f.detach(i) },
		func() { i.Header, i.Metadata = false, nil },
		func() { delete(f.images, image.ImageRef) },
	} {
		if err := f.step(work); err != nil {
			return err
		}
	}
	return nil
}

// detach takes a clone off its parent, whose snapshot goes with the last one if it is in the trash.
func (f *fakeRBD) detach(i *ceph.RBDImage) {
	if i.Parent == nil || f.images[i.Parent.ImageRef] == nil {
		return
	}
	parent := f.images[i.Parent.ImageRef]
	for n := range parent.Snapshots {
		s := &parent.Snapshots[n]
		s.Children = slices.DeleteFunc(s.Children, func(r ceph.ImageRef) bool { return r == i.ImageRef })
	}
	parent.Snapshots = slices.DeleteFunc(parent.Snapshots, func(s ceph.ImageSnapshot) bool {
		return s.Kind == ceph.TrashSnapshot && len(s.Children) == 0
	})
	i.Parent = nil
}

func (f *fakeRBD) QueueTrashRemoval(_ context.Context, image ceph.RBDImage) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.step(func() { f.queued = append(f.queued, image.Name) })
}

func (f *fakeRBD) ImageGone(_ context.Context, image ceph.RBDImage) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	// The mgr has done what it was told.
	if slices.Contains(f.queued, image.Name) {
		delete(f.images, image.ImageRef)
	}
	return f.images[image.ImageRef] == nil, nil
}

func (f *fakeRBD) RemoveImageGroup(_ context.Context, g ceph.RBDGroup, members []ceph.RBDImage) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range members {
		i := f.images[m.ImageRef]
		if i.Group == nil || *i.Group != g.GroupRef {
			return fmt.Errorf("image %s is not in the group", i.Name)
		}
		err := f.step(func() {
			i.Group = nil
			i.Snapshots = slices.DeleteFunc(i.Snapshots, func(s ceph.ImageSnapshot) bool { return s.Kind == ceph.GroupSnapshot })
		})
		if err != nil {
			return err
		}
	}
	return f.step(func() { delete(f.groups, g.GroupRef) })
}

func (f *fakeRBD) RemoveJournal(_ context.Context, pool string, j ceph.Journal) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, namespace := range j.Namespaces {
		if err := f.step(func() { delete(f.journals, [3]string{pool, namespace, j.Name().Object()}) }); err != nil {
			return err
		}
	}
	for _, k := range j.Keys {
		if err := f.step(func() { delete(f.journals[[3]string{pool, k.Namespace, k.Directory}], k.Key) }); err != nil {
			return err
		}
	}
	return nil
}

func (f *fakeRBD) Records(_ context.Context, pool, _, object string) (map[string][]byte, error) {
	out := map[string][]byte{}
	for at, content := range f.records {
		if at[0] == pool && at[1] == object {
			out[at[2]] = content
		}
	}
	return out, nil
}

func (f *fakeRBD) AppendRecord(_ context.Context, pool, _, object, run string, content []byte) error {
	if f.records[[3]string{pool, object, run}] != nil {
		return teardowntest.Errno("create", syscall.EEXIST)
	}
	return f.step(func() { f.records[[3]string{pool, object, run}] = content })
}

func (f *fakeRBD) RemoveRecords(_ context.Context, pool, _, object string, runs []string) error {
	for _, run := range runs {
		if err := f.step(func() { delete(f.records, [3]string{pool, object, run}) }); err != nil {
			return err
		}
	}
	return nil
}
