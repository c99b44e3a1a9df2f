package credentials

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/openshift/library-go/pkg/operator/v1helpers"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

// input is everything that is decided on, but for what Ceph says.
type input struct {
	mode driver.CredentialsMode
	// keyType is the setting.
	keyType ceph.KeyType
	// image is the driver's; kernels are the nodes', by their names, where they are asked for.
	image   string
	kernels map[string]string
	cluster ceph.Cluster
	infraID string
	// minted says that the driver works with users of its own.
	minted bool
	// placement is the default place; placed says that it is known, for this Ceph cluster.
	placement ceph.Placement
	placed    bool
	// places are all that the users need rights to, in a fixed order. Unless complete, which takes a
	// proof, there may be others.
	places   []driver.Used
	complete bool
}

// gather reads everything but Ceph.
func (c *Controller) gather() (input, error) {
	settings, err := c.Settings()
	if err != nil {
		return input{}, err
	}
	in := input{mode: cmp.Or(settings.Credentials, driver.CredentialsAuto), keyType: settings.KeyType, image: c.Image}
	in.cluster, _ = c.Cluster.Get()
	in.placement, in.placed = c.Placement.Get()
	in.placed = in.placed && in.placement.FSID == in.cluster.FSID
	if in.mode == driver.CredentialsPassthrough || in.cluster.FSID == "" {
		return in, nil
	}
	if in.infraID, err = c.infraID(); err != nil {
		return in, err
	}
	if in.minted, err = c.minted(); err != nil {
		return in, err
	}
	volumes, known := c.Usage.Get()
	proven, err := c.Proof.Since(time.Time{})
	in.complete = known && in.placed && err == nil
	classes, err := c.StorageClasses.Lister().List(labels.Everything())
	if err != nil {
		return in, fmt.Errorf("listing StorageClasses: %w", err)
	}
	now := c.Clock.Now()
	if in.placed {
		c.used.note(driver.Used{Placement: in.placement}, now)
	}
	for _, places := range [][]usage.Place{volumes.In(in.cluster), usage.Of(c.Driver, volumes.Config, classes, nil).In(in.cluster)} {
		for _, what := range usedIn(places, in.placement) {
			c.used.note(what, now)
		}
	}
	in.places = c.used.places(in.cluster.FSID, now, settings.Withdrawal())
	for _, seen := range proven {
		in.places = append(in.places, usedIn(seen.In(in.cluster), in.placement)...)
	}
	return in, nil
}

// usedIn are places that need rights. config.json has one subvolume group and one journal for all of a
// clusterID; what it has no entry for yet will be where the default place is.
func usedIn(places []usage.Place, placement ceph.Placement) []driver.Used {
	var out []driver.Used
	for _, p := range places {
		p.SubvolumeGroup = cmp.Or(p.Group, placement.SubvolumeGroup)
		if len(p.Monitors) == 0 {
			p.JournalNamespace = placement.JournalNamespace
		}
		out = append(out, driver.Used{
			Placement: p.Placement, IDs: p.IDs, Directories: p.Directories, Namespace: p.RADOSNamespace, Named: p.OnlyNamed(),
		})
	}
	return out
}

// minted looks at the users in the Secrets, whose names are those of any infra ID, at those that Ceph has
// made, and at what is remembered, which the version before this one had in its condition: a Secret may be gone.
func (c *Controller) minted() (bool, error) {
	_, status, _, err := c.Operator.GetOperatorState()
	if err != nil {
		return false, fmt.Errorf("reading ClusterCSIDriver %s: %w", c.Driver.Name, err)
	}
	last, _, err := c.Memory.Load()
	if err != nil {
		return false, err
	}
	if len(c.last.users) > 0 || last.Minted || v1helpers.IsOperatorConditionTrue(status.Conditions, condition.CredentialsMinted) {
		return true, nil
	}
	for secret, prefix := range map[string]string{c.Driver.ProvisionerSecret(): c.Driver.ProvisionerUser(""), c.Driver.NodeSecret(): c.Driver.NodeUser("")} {
		is, err := c.Secrets.Lister().Secrets(driver.Namespace).Get(secret)
		if err != nil && !apierrors.IsNotFound(err) {
			return false, fmt.Errorf("reading Secret %s/%s: %w", driver.Namespace, secret, err)
		}
		if err == nil && strings.HasPrefix(string(is.Data[userIDKey]), prefix) {
			return true, nil
		}
	}
	return false, nil
}

// infraID is in the users' names: several OpenShift clusters may share a Ceph cluster.
func (c *Controller) infraID() (string, error) {
	infraID, err := ctrl.InfraID(c.Infrastructures.Lister())
	if errors.Is(err, ctrl.ErrNoInfraID) {
		return "", fmt.Errorf("the driver's Ceph users have no names: %w; set it, or spec.driverConfig.ceph.credentials of ClusterCSIDriver %s to %s",
			err, c.Driver.Name, driver.CredentialsPassthrough)
	}
	return infraID, err
}

// scope remembers what was used lately. The zero scope is empty.
type scope struct{ uses map[string]use }

type use struct {
	what driver.Used
	last time.Time
}

func (s *scope) note(what driver.Used, now time.Time) {
	if s.uses == nil {
		s.uses = map[string]use{}
	}
	s.uses[fmt.Sprintf("%q", []any{what.Placement, what.IDs, what.Directories, what.Namespace, what.Named})] = use{what, now}
}

// places forgets what is in another Ceph cluster or has not been used for too long, and returns
// the rest. A volume that is being made while its class is deleted is no PersistentVolume yet.
func (s *scope) places(fsid string, now time.Time, linger time.Duration) []driver.Used {
	maps.DeleteFunc(s.uses, func(_ string, u use) bool { return u.what.FSID != fsid || now.Sub(u.last) >= linger })
	var out []driver.Used
	for _, key := range slices.Sorted(maps.Keys(s.uses)) {
		out = append(out, s.uses[key].what)
	}
	return out
}
