package images

import (
	"context"
	"fmt"
	"slices"
	"syscall"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown/teardowntest"
)

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
