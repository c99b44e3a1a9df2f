package teardown

import (
	"context"
	"fmt"
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
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

func (f *fakeRBD) ReadRecord(_ context.Context, pool, _, object string) ([]byte, error) {
	content, ok := f.records[[2]string{pool, object}]
	if !ok {
		return nil, ceph.ErrNotFound
	}
	return content, nil
}

func (f *fakeRBD) WriteRecord(_ context.Context, pool, _, object string, content []byte) error {
	return f.step(func() { f.records[[2]string{pool, object}] = content })
}

func (f *fakeRBD) RemoveRecord(_ context.Context, pool, _, object string) error {
	return f.step(func() { delete(f.records, [2]string{pool, object}) })
}
