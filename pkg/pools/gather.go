package pools

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// gather reads everything but Ceph. What could be read is returned beside an error, so that
// a class that exists keeps its place whatever else is broken.
func (c *Controller) gather(ctx context.Context, open bool) (input, error) {
	var in input
	cluster, _ := c.Cluster.Get()
	in.fsid = cluster.FSID
	class, err := c.StorageClasses.Lister().Get(c.Driver.StorageClass)
	if err != nil && !apierrors.IsNotFound(err) {
		return in, fmt.Errorf("reading StorageClass %s: %w", c.Driver.StorageClass, err)
	}
	if err == nil && class.Provisioner == c.Driver.Name && c.Driver.Owns(class) {
		in.class = c.Driver.Storage.FromParameters(class.Parameters)
	}
	recorded, _, err := c.Record.Load()
	if err != nil {
		// Without the record, the subvolume group would be guessed.
		return input{}, err
	}
	in.recorded = ceph.Placement(recorded)
	lacksHome := open && c.Driver.NeedsFilesystem && in.fsid != "" && !in.atHome()
	if lacksHome {
		if err := c.readHome(ctx, &in); err != nil {
			return input{}, err
		}
	}
	in.settings, err = c.Settings()
	if open && in.leaves() {
		in.held, in.unseen = c.holds(ctx, in)
	}
	if err != nil {
		return in, err
	}
	if in.infraID, err = ctrl.InfraID(c.Infrastructures.Lister()); err != nil {
		return in, err
	}
	in.users = c.users(in.settings.Credentials)
	if !lacksHome && (named(in.settings.Placement()) || named(in.class) || named(in.recorded)) {
		// Nothing rests on the volumes, and there may be thousands.
		return in, nil
	}
	in.volumes, err = c.places(in.fsid)
	return in, err
}

// readHome reads past the caches: what they lack may be there.
func (c *Controller) readHome(ctx context.Context, in *input) error {
	recorded, _, err := c.Record.Read(ctx)
	if err != nil {
		return err
	}
	in.recorded = ceph.Placement(recorded)
	in.config, err = c.ConfigJSON(ctx)
	return err
}

// holds says that something may lie in the subvolume group in use. Volumes that are in the wanted one alone are no reason to stay: somebody
// mends what an earlier change has done. What cannot be counted may be some.
func (c *Controller) holds(ctx context.Context, in input) (bool, error) {
	volumes, err := c.PersistentVolumes.Lister().List(labels.Everything())
	if err != nil {
		return true, err
	}
	used, _ := in.settled()
	elsewhere := false
	for _, volume := range volumes {
		if !c.Driver.Serves(volume) || !sameCluster(in.fsid, c.Driver.Storage.FromParameters(volume.Spec.CSI.VolumeAttributes)) {
			continue
		}
		switch driver.Directory(volume.Spec.CSI.VolumeAttributes) {
		case driver.GroupDirectory(used.group):
			return true, nil
		case driver.GroupDirectory(in.settings.SubvolumeGroup):
			elsewhere = true
		}
	}
	if elsewhere {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	held, err := c.Held(ctx)
	return held || err != nil, err
}

// users says whether the driver works with users of its own; nil while nobody knows.
func (c *Controller) users(mode driver.CredentialsMode) *bool {
	switch minted, known := c.Minted.Get(); {
	case mode == driver.CredentialsMint || mode == driver.CredentialsPassthrough:
		minted = mode == driver.CredentialsMint
		return &minted
	case known:
		return &minted
	}
	return nil
}

// places counts the driver's volumes by where they are.
func (c *Controller) places(fsid string) (map[ceph.Placement]int, error) {
	volumes, err := c.PersistentVolumes.Lister().List(labels.Everything())
	if err != nil {
		return nil, fmt.Errorf("listing PersistentVolumes: %w", err)
	}
	counts := map[ceph.Placement]int{}
	for _, volume := range volumes {
		if !c.Driver.Serves(volume) {
			continue
		}
		place := c.Driver.Storage.FromParameters(volume.Spec.CSI.VolumeAttributes)
		if named(place) && sameCluster(fsid, place) {
			counts[place]++
		}
	}
	return counts, nil
}
