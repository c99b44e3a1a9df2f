package credentials

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/shell"
)

// chooseKey decides the type of keys of the driver's users; empty where Ceph knows but one.
//
//	setting  allowed by Ceph  release of ceph-csi | type
//	–        none (old Ceph)  any                 | –
//	aes      none (old Ceph)  any                 | –
//	–        aes among them   any                 | aes, which all nodes and drivers know
//	–        aes256k only     knows it            | aes256k
//	any      it among them    knows it            | the setting's
//	any      it among them    does not            | an error
//	–        aes256k only     does not            | an error
//	any      not it           any                 | an error
//
// What kernels know is never sure: see doubt.
func chooseKey(d driver.Driver, in input) (ceph.KeyType, error) {
	kind, err := allowedKey(d, in)
	if err == nil && !driver.KnowsKeys(in.image, kind) {
		return "", fmt.Errorf("keys of type %s fit no driver in use: %s is older than %s; deploy a newer one, or %s", kind, in.image, driver.StrongReleases, weaken(d, in))
	}
	return kind, err
}

// allowedKey is chooseKey as far as Ceph and the setting go.
func allowedKey(d driver.Driver, in input) (ceph.KeyType, error) {
	keys, wish := in.cluster.MonMap.Keys, in.keyType
	switch {
	case wish != "" && !keys.Allows(wish):
		if len(keys.Allowed) == 0 {
			return "", fmt.Errorf("%s is %s, but the Ceph cluster knows keys of type %s only, as all before %s: choose that, or upgrade Ceph",
				setting(d), wish, ceph.AES, ceph.StrongReleases)
		}
		return "", fmt.Errorf("%s is %s, but the Ceph cluster allows keys of type %s only; choose that, or allow the other with: %s",
			setting(d), wish, keys.Allowed[0], allowBoth)
	case len(keys.Allowed) == 0:
		return "", nil
	case wish != "":
		return wish, nil
	case keys.Allows(ceph.AES):
		return ceph.AES, nil
	case keys.Allows(ceph.AES256):
		return ceph.AES256, nil
	}
	return "", fmt.Errorf("the Ceph cluster allows keys of types %q only, of which this operator knows none; allow another with: %s", keys.Allowed, allowBoth)
}

const allowBoth = "ceph mon set auth_allowed_ciphers " + string(ceph.AES) + "," + string(ceph.AES256)

func setting(d driver.Driver) string {
	return fmt.Sprintf("spec.driverConfig.ceph.keyType of ClusterCSIDriver %s", d.Name)
}

// weaken is how the driver's users get keys that everybody knows.
func weaken(d driver.Driver, in input) string {
	set := fmt.Sprintf("set %s to %s", setting(d), ceph.AES)
	if in.cluster.MonMap.Keys.Allows(ceph.AES) {
		return set
	}
	return fmt.Sprintf("allow keys of type %s (%s, ceph config set mon mon_auth_allow_insecure_key true) and %s", ceph.AES, allowBoth, set)
}

// strong says whether one of the users has a key that not every client knows.
func strong(users ...ceph.Credentials) bool {
	return slices.ContainsFunc(users, func(u ceph.Credentials) bool { return u.Key.Type() == ceph.AES256 })
}

// namedNodes is how many nodes a sentence names.
const namedNodes = 3

// doubt is a sentence about clients that may not know the keys of the driver's users; empty where all
// do. Such a kernel may have a backport, so that it holds nothing up.
func doubt(in input, mend string, users ...ceph.Credentials) string {
	if !strong(users...) {
		return ""
	}
	var weak []string
	if !driver.KnowsKeys(in.image, ceph.AES256) {
		weak = append(weak, "driver "+in.image)
	}
	kernels := driver.WeakKernels(in.kernels)
	if others := len(kernels) - namedNodes; others > 1 {
		kernels = append(kernels[:namedNodes], fmt.Sprintf("%d others", others))
	}
	if len(kernels) > 0 {
		weak = append(weak, "the kernels of nodes "+strings.Join(kernels, ", "))
	}
	if len(weak) == 0 {
		return ""
	}
	return fmt.Sprintf("; keys of type %s may not be known to %s, only to Linux %d or a kernel with its backport and %s or newer: update them, or %s",
		ceph.AES256, strings.Join(weak, " and "), driver.StrongKernel, driver.StrongReleases, mend)
}

// turns says whether a user gets another key: where the setting asks for another type than it has, or
// the mons do not accept it any more. A key that works is left alone otherwise: volumes are mounted
// with it. That its type is gone from the monmap does not tell: mons that were started with
// mon_auth_emergency_allowed_ciphers accept it all the same.
func (c *Controller) turns(ctx context.Context, user ceph.User, wanted ceph.KeyType, in input) (bool, error) {
	has := user.Key.Type()
	switch {
	case wanted == "" || has == wanted:
		return false, nil
	case in.keyType != "":
		return true, nil
	case slices.Contains(in.cluster.MonMap.Keys.Allowed, has):
		return false, nil
	}
	session, err := c.Dial(ctx, ceph.Source{Monitors: in.cluster.MonMap.MonHost(), FSID: in.cluster.FSID, Credentials: user.Credentials})
	switch {
	case err == nil:
		session.Close()
		return false, nil
	case errors.Is(err, ceph.ErrWrongKey):
		return true, nil
	case errors.Is(err, ceph.ErrDenied): // Of more than to be let in.
		return false, nil
	}
	// Not as silence: the cluster does answer the operator.
	return false, fmt.Errorf("trying whether the key of %s still works, as the Ceph cluster allows no keys of type %s: %v", user.Entity(), has, err)
}

// strengthen is what to do where mons refuse to make keys of type aes while they still accept them; empty where that
// is not what an error may be.
func (c *Controller) strengthen(in input, kind ceph.KeyType, err error) string {
	errno := ceph.Errno(err)
	if kind != ceph.AES || !in.cluster.MonMap.Keys.Allows(ceph.AES256) || errno != syscall.EINVAL && errno != syscall.EPERM {
		return ""
	}
	return fmt.Sprintf("; where that is for the type of the key, either set %s to %s, if the kernels of all nodes (Linux %d, or a backport) and the driver (%s) know such keys, "+
		"or have the mons make keys of type %s with: ceph config set mon mon_auth_allow_insecure_key true",
		setting(c.Driver), ceph.AES256, driver.StrongKernel, driver.StrongReleases, ceph.AES)
}

// turn gives a user a key of another type.
func (c *Controller) turn(ctx context.Context, cluster Ceph, user ceph.User, kind ceph.KeyType, in input) (ceph.User, error) {
	turned, err := cluster.RotateKey(ctx, user.UserID, kind)
	if ceph.NoAnswer(err) {
		return ceph.User{}, err
	}
	if err != nil {
		mend := cmp.Or(c.strengthen(in, kind, err), fmt.Sprintf("; an administrator of Ceph does it with: ceph auth rotate %s --key_type %s", shell.Quote(user.Entity()), kind))
		// Not as ErrDenied: the users are made all the same.
		return ceph.User{}, fmt.Errorf("the key of %s is of type %s and has to be of type %s: %v%s", user.Entity(), user.Key.Type(), kind, err, mend)
	}
	c.Recorder.Eventf("CephUserKeyRotated", "Gave Ceph user %s a key of type %s; volumes that are mounted with the old one have to be mounted anew", user.Entity(), kind)
	return turned, nil
}
