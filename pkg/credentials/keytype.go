package credentials

import (
	"context"
	"fmt"
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// chooseKey decides the type of keys of the driver's users; empty where Ceph knows but one.
//
//	setting  allowed by Ceph | type
//	–        –, before 20.2.4 | –
//	aes      –, before 20.2.4 | –
//	–        aes among them   | aes, which all nodes and drivers know
//	–        aes256k only     | aes256k
//	any      it among them    | the setting's
//	any      not it           | an error
func chooseKey(d driver.Driver, in input) (ceph.KeyType, error) {
	keys, wish := in.cluster.MonMap.Keys, in.keyType
	switch {
	case wish != "" && !keys.Allows(wish):
		allowed := keys.Allowed
		if len(allowed) == 0 {
			allowed = []ceph.KeyType{ceph.AES}
		}
		return "", fmt.Errorf("spec.driverConfig.ceph.keyType of ClusterCSIDriver %s is %s, but the Ceph cluster allows keys of type %s only; "+
			"choose that, or allow the other with: ceph mon set auth_allowed_ciphers %s,%s", d.Name, wish, allowed[0], ceph.AES, ceph.AES256)
	case len(keys.Allowed) == 0:
		return "", nil
	case wish != "":
		return wish, nil
	case keys.Allows(ceph.AES):
		return ceph.AES, nil
	case keys.Allows(ceph.AES256):
		return ceph.AES256, nil
	}
	return "", fmt.Errorf("the Ceph cluster allows keys of types %q only, of which this operator knows none; "+
		"allow another with: ceph mon set auth_allowed_ciphers %s,%s", keys.Allowed, ceph.AES, ceph.AES256)
}

// turns says whether a user gets another key: where the setting asks for another type than it has, or
// Ceph does not accept that any more. A key that works is left alone otherwise: volumes are mounted
// with it.
func turns(has, wanted ceph.KeyType, in input) bool {
	if wanted == "" || has == wanted {
		return false
	}
	return in.keyType != "" || !slices.Contains(in.cluster.MonMap.Keys.Allowed, has)
}

// turn gives a user a key of another type.
func (c *controller) turn(ctx context.Context, cluster Ceph, user ceph.User, kind ceph.KeyType) (ceph.User, error) {
	turned, err := cluster.RotateKey(ctx, user.UserID, kind)
	if silent(err) {
		return ceph.User{}, err
	}
	if err != nil {
		// Not as ErrDenied: the users are made all the same.
		return ceph.User{}, fmt.Errorf("the key of %s is of type %s and has to be of type %s: %v; an administrator of Ceph does it with: ceph auth rotate %s --key_type %s",
			user.Entity(), user.Key.Type(), kind, err, user.Entity(), kind)
	}
	c.Recorder.Eventf("CephUserKeyRotated", "Gave Ceph user %s a key of type %s; volumes that are mounted with the old one have to be mounted anew", user.Entity(), kind)
	return turned, nil
}
