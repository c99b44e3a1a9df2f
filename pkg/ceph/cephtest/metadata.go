package cephtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"syscall"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// everybody is a command that every session may send; rights to objects are checked apart.
const everybody = "fsid"

// Commands that Writes counts.
const (
	changeImage         = "change image header"
	setSubvolumeKey     = "fs subvolume metadata set"
	removeSubvolumeKey  = "fs subvolume metadata rm"
	listSubvolumeKeys   = "fs subvolume metadata ls"
	retainedText        = "subvolume is removed and has only snapshots retained"
	readImage           = "read image header"
	readJournal         = "read journal"
	noSuchSubvolumeText = "subvolume does not exist"
)

// ImageMetadata reads the metadata of an image.
func (c *Client) ImageMetadata(ctx context.Context, at ceph.ImagePlace) (metadata ceph.ImageMetadata, err error) {
	err = c.run(ctx, everybody, func(cluster *Cluster) error {
		if err := c.checkObjects(readImage, at.Pool, false); err != nil {
			return err
		}
		found := cluster.volumes.images[cluster.object(at.Pool, at.Namespace, at.Name)]
		if found == nil {
			return refusal("read image ID", syscall.ENOENT, "")
		}
		metadata = ceph.ImageMetadata{Values: maps.Clone(found.values), ID: found.id, Version: found.version}
		return nil
	})
	if err != nil {
		return ceph.ImageMetadata{}, fmt.Errorf("reading the metadata of image %s: %w", at, err)
	}
	return metadata, nil
}

// ChangeImageMetadata changes all keys at once.
func (c *Client) ChangeImageMetadata(ctx context.Context, at ceph.ImagePlace, was ceph.ImageMetadata, change ceph.MetadataChange) error {
	err := c.run(ctx, everybody, func(cluster *Cluster) error {
		if err := c.checkObjects(changeImage, at.Pool, true); err != nil {
			return err
		}
		var found *image
		for _, i := range cluster.volumes.images {
			if i.id == was.ID {
				found = i
			}
		}
		if found == nil {
			return refusal(changeImage, syscall.ENOENT, "")
		}
		if found.version != was.Version {
			return ceph.ErrChanged
		}
		cluster.writes[changeImage]++
		found.version++
		apply(found.values, change)
		return nil
	})
	if err != nil {
		return fmt.Errorf("changing the metadata of image %s: %w", at, err)
	}
	return nil
}

func apply(values map[string]string, change ceph.MetadataChange) {
	maps.Copy(values, change.Set)
	for _, key := range change.Remove {
		delete(values, key)
	}
}

// JournalEntry reads the keys of an object of ceph-csi's journals.
func (c *Client) JournalEntry(ctx context.Context, pool, namespace, name string) (keys map[string]string, err error) {
	err = c.run(ctx, everybody, func(cluster *Cluster) error {
		if err := c.checkObjects(readJournal, pool, false); err != nil {
			return err
		}
		found, known := cluster.volumes.journals[cluster.object(pool, namespace, name)]
		if !known {
			return refusal(readJournal, syscall.ENOENT, "")
		}
		keys = maps.Clone(found)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading %s in pool %q: %w", name, pool, err)
	}
	return keys, nil
}

// SubvolumeMetadata reads the metadata of subvolumes of one filesystem.
func (c *Client) SubvolumeMetadata(ctx context.Context, filesystem string, places []ceph.SubvolumePlace) (found []ceph.SubvolumeMetadata, err error) {
	if err := c.checkActive(ctx, filesystem); err != nil {
		return nil, fmt.Errorf("reading the metadata of subvolumes of filesystem %q: %w", filesystem, err)
	}
	for _, at := range places {
		var values map[string]string
		err := c.run(ctx, listSubvolumeKeys, func(cluster *Cluster) (err error) {
			values, err = cluster.subvolumeValues(at)
			values = maps.Clone(values)
			return err
		})
		if err != nil {
			err = fmt.Errorf("reading the metadata of subvolume %s: %w", at, err)
		}
		found = append(found, ceph.SubvolumeMetadata{Values: values, Err: err})
	}
	return found, nil
}

// ChangeSubvolumeMetadata changes key by key, one subvolume after the other.
func (c *Client) ChangeSubvolumeMetadata(ctx context.Context, filesystem string, changes []ceph.SubvolumeChange) (errs []error, err error) {
	if err := c.checkActive(ctx, filesystem); err != nil {
		return nil, fmt.Errorf("changing the metadata of subvolumes of filesystem %q: %w", filesystem, err)
	}
	for _, change := range changes {
		err := c.changeOne(ctx, change)
		if errors.Is(err, ceph.ErrTimeout) {
			return errs, err
		}
		errs = append(errs, err)
	}
	return errs, nil
}

func (c *Client) changeOne(ctx context.Context, change ceph.SubvolumeChange) error {
	at := change.At
	err := c.run(ctx, listSubvolumeKeys, func(cluster *Cluster) error {
		now, err := cluster.subvolumeValues(at)
		if err == nil && !maps.Equal(now, change.Was) {
			return ceph.ErrChanged
		}
		return err
	})
	for _, key := range change.Ordered() {
		if err == nil {
			err = c.changeSubvolume(ctx, setSubvolumeKey, at, ceph.MetadataChange{Set: map[string]string{key: change.Set[key]}})
		}
	}
	for _, key := range change.Remove {
		if err == nil {
			err = c.changeSubvolume(ctx, removeSubvolumeKey, at, ceph.MetadataChange{Remove: []string{key}})
		}
	}
	if err != nil {
		return fmt.Errorf("changing the metadata of subvolume %s: %w", at, err)
	}
	return nil
}

func (c *Client) changeSubvolume(ctx context.Context, prefix string, at ceph.SubvolumePlace, change ceph.MetadataChange) error {
	return c.write(ctx, prefix, func(cluster *Cluster) error {
		values, err := cluster.subvolumeValues(at)
		if err == nil {
			apply(values, change)
		}
		return err
	})
}

func (c *Cluster) subvolumeValues(at ceph.SubvolumePlace) (map[string]string, error) {
	found := c.volumes.subvolumes[at]
	whole := at
	whole.Snapshot = ""
	if c.volumes.subvolumes[whole] == nil && (found != nil || c.volumes.hasSnapshots(whole)) {
		return nil, refusal(listSubvolumeKeys, syscall.ENOENT, retainedText)
	}
	if found == nil {
		return nil, refusal(listSubvolumeKeys, syscall.ENOENT, noSuchSubvolumeText)
	}
	if found.cloning {
		return nil, refusal(listSubvolumeKeys, syscall.EAGAIN, "subvolume is not ready for operation metadata-list")
	}
	return found.values, nil
}

func (c *Client) checkActive(ctx context.Context, filesystem string) error {
	filesystems, err := c.FileSystems(ctx)
	if err != nil {
		return err
	}
	return ceph.CheckActive(filesystems, filesystem)
}
