package driver

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/shell"
)

// Tags finds each image by the journal that the volume's handle leads to. A snapshot is an image, too.
func (i images) Tags(ctx context.Context, cluster TagStore, volumes []Volume) ([]Tags, error) {
	pools, err := cluster.Pools(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Tags, 0, len(volumes))
	for _, v := range volumes {
		found := Tags{}
		found.image, err = i.locate(ctx, cluster, pools, v)
		if err == nil {
			found.was, err = cluster.ImageMetadata(ctx, found.image)
		}
		if ceph.NoAnswer(err) {
			// Of the others it may be known: their objects are on other OSDs.
			return out, err
		}
		found.Values, found.Err = found.was.Values, err
		out = append(out, found)
	}
	return out, nil
}

func (images) locate(ctx context.Context, cluster TagStore, pools []ceph.Pool, v Volume) (ceph.ImagePlace, error) {
	at := ceph.ImagePlace{
		Pool: v.Attributes[poolParameter], Namespace: cmp.Or(v.Attributes[radosNamespaceAttribute], v.Namespace), Name: v.Handle,
	}
	if Static(v.Attributes) {
		return at, nil
	}
	handle, err := ceph.ParseVolumeHandle(v.Handle)
	if err != nil || handle.Pool != "" {
		return at, fmt.Errorf("%w: handle %q is not of ceph-csi's making", ErrNothingToTag, v.Handle)
	}
	n := slices.IndexFunc(pools, func(p ceph.Pool) bool { return p.ID == handle.LocationID })
	if n < 0 {
		return at, fmt.Errorf("pool with ID %d: %w", handle.LocationID, ceph.ErrNotFound)
	}
	at.Pool = pools[n].Name
	entry, err := entryOf(ctx, cluster, at.Pool, ceph.JournalName{Kind: v.journal(), UUID: handle.UUID}, slices.Compact([]string{at.Namespace, ""})...)
	at.Name = cmp.Or(entry[journalName], v.usual(handle.UUID))
	return at, err
}

func (images) Retag(ctx context.Context, cluster TagStore, changes []Retag) ([]error, error) {
	var errs []error
	for _, c := range changes {
		err := cluster.ChangeImageMetadata(ctx, c.image, c.was, c.MetadataChange)
		if ceph.NoAnswer(err) {
			return errs, err
		}
		errs = append(errs, err)
	}
	return errs, nil
}

func (images) Where(found Tags) string { return "image " + found.image.String() }

func (images) TagCommand(found Tags, key, value string) string {
	return shell.Command("rbd", "image-meta", "set", found.image.String(), key, value)
}
