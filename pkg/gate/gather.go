package gate

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func (c *Gate) gather() (Input, error) {
	in := Input{NeedsFilesystem: c.Driver.NeedsFilesystem}
	in.Filesystem, in.AskedCeph = c.Filesystem.Get()
	ownCSIDriver, err := c.csiDriver(&in)
	if err != nil {
		return in, err
	}
	workloads, err := c.workloads()
	if err != nil {
		return in, err
	}
	configured, err := c.secretExists(c.Driver.ConfigSecret())
	if err != nil {
		return in, err
	}
	in.Deployed = workloads || ownCSIDriver && configured
	if in.Declared, err = c.declared(); err != nil {
		return in, err
	}
	if in.Deployed || in.Foreign {
		// Nothing rests on the volumes, and there may be thousands.
		return in, nil
	}
	in.Volumes, err = c.volumes()
	return in, err
}

// csiDriver returns whether the CSIDriver is there and ours, and fills in whose it is if not.
func (c *Gate) csiDriver(in *Input) (bool, error) {
	csiDriver, err := c.CSIDrivers.Lister().Get(c.Driver.Name)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading CSIDriver %s: %w", c.Driver.Name, err)
	}
	if driver.Applied(csiDriver) {
		return true, nil
	}
	in.Foreign, in.Owner = true, driver.Owner(csiDriver)
	return false, nil
}

func (c *Gate) workloads() (bool, error) {
	_, err := c.Deployments.Lister().Deployments(driver.Namespace).Get(c.Driver.ControllerName())
	if err == nil {
		return true, nil
	}
	if !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("reading Deployment %s: %w", c.Driver.ControllerName(), err)
	}
	_, err = c.DaemonSets.Lister().DaemonSets(driver.Namespace).Get(c.Driver.NodeName())
	if err == nil {
		return true, nil
	}
	if !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("reading DaemonSet %s: %w", c.Driver.NodeName(), err)
	}
	return false, nil
}

// secretExists says whether there is a Secret of that name, whatever stands in it.
func (c *Gate) secretExists(name string) (bool, error) {
	_, err := c.Secrets.Lister().Secrets(driver.Namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading Secret %s/%s: %w", driver.Namespace, name, err)
	}
	return true, nil
}

// declared says whether anything declares a Ceph cluster, whatever it is worth. Settings that
// are invalid and never were valid declare none.
func (c *Gate) declared() (bool, error) {
	if found, err := c.secretExists(driver.CredentialsSecret); found || err != nil {
		return found, err
	}
	labelled, err := labels.NewRequirement(driver.ClusterLabel, selection.Exists, nil)
	if err != nil {
		return false, fmt.Errorf("selecting Secrets with label %s: %w", driver.ClusterLabel, err)
	}
	secrets, err := c.Secrets.Lister().Secrets(driver.Namespace).List(labels.NewSelector().Add(*labelled))
	if err != nil {
		return false, fmt.Errorf("listing Secrets with label %s: %w", driver.ClusterLabel, err)
	}
	settings, err := c.Settings()
	return len(secrets) > 0 || err == nil && settings.RookNamespace != "", nil
}

func (c *Gate) volumes() (bool, error) {
	volumes, err := c.PersistentVolumes.Lister().List(labels.Everything())
	if err != nil {
		return false, fmt.Errorf("listing PersistentVolumes: %w", err)
	}
	return slices.ContainsFunc(volumes, c.Driver.Serves), nil
}
