package connection

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/shell"
)

// verdict is what is wrong, in words that a person can act on; the zero verdict is that
// nothing is. Messages stand still while the fault stays the same.
type verdict struct {
	reason  string
	message string
}

func (v verdict) bad() bool { return v.reason != "" }

// missing is the verdict on a Secret that is gone while something still lives of it.
func missing() verdict {
	return verdict{condition.CredentialsMissing, secretName(SecretName) + " does not exist. What runs keeps running with what was known last, " +
		"but nothing is looked after. Create it again: oc -n " + driver.Namespace + " create secret generic " + SecretName +
		" --from-file=ceph.conf --from-file=keyring"}
}

// misread is the verdict on a source that ceph.ParseSource refused.
func misread(err error, from source) verdict {
	if !errors.Is(err, ceph.ErrUnresolved) {
		return verdict{condition.CredentialsInvalid, from.where + ": " + err.Error()}
	}
	// The resolver's own text has port numbers that change with each try.
	entry := ceph.EntryConf
	var input *ceph.InputError
	if errors.As(err, &input) {
		entry = input.Entry
	}
	return verdict{condition.CephUnreachable, fmt.Sprintf("%s, key %q: none of the mons' host names can be resolved; "+
		"write IP addresses, or names that the cluster's DNS knows", from.where, entry)}
}

// refused is the verdict on a declaration with which no connection came about.
func refused(err error, declared ceph.Source, from source) verdict {
	user := "client." + declared.UserID
	switch {
	case errors.Is(err, ceph.ErrKeyType):
		return verdict{condition.AccessDenied, fmt.Sprintf("%s of %s: %v; put the new one into key %q", user, from.where, err, from.keyEntry)}
	case errors.Is(err, ceph.ErrWrongKey):
		return verdict{condition.AccessDenied, fmt.Sprintf("Ceph refuses %s of %s: the user does not exist there, has another key, "+
			"a key of a type that is not allowed (`ceph mon dump` lists the others, `ceph auth rotate` makes one), or no mon caps. Compare with what `ceph auth get %s` prints, and put that into key %q",
			user, from.where, shell.Quote(user), from.keyEntry)}
	case errors.Is(err, ceph.ErrDenied):
		return verdict{condition.AccessDenied, fmt.Sprintf("%s of %s may not read Ceph's monmap; its mon caps must contain 'allow r'. "+
			"`ceph auth get %s` shows its caps, `ceph auth caps` replaces them all", user, from.where, shell.Quote(user))}
	case ceph.NoAnswer(err):
		return verdict{condition.CephUnreachable, fmt.Sprintf("None of the mons of %s answers (%s). Check that they run and that "+
			"pods of this cluster reach their ports; if the mons have moved, update them there (`ceph mon dump` lists them)",
			from.where, addresses(declared.Monitors))}
	}
	return verdict{condition.SyncError, fmt.Sprintf("Connecting to Ceph as %s of %s: %v", user, from.where, err)}
}

// silent is the verdict on a live connection whose polls fail for too long.
func silent(err error, cluster ceph.Cluster) verdict {
	user := "client." + cluster.Credentials.UserID
	switch {
	case errors.Is(err, ceph.ErrDenied):
		return verdict{condition.AccessDenied, fmt.Sprintf("%s may no longer read the monmap of Ceph cluster %s; "+
			"its mon caps must contain 'allow r', `ceph auth get %s` shows them", user, cluster.FSID, shell.Quote(user))}
	case ceph.NoAnswer(err):
		return verdict{condition.CephUnreachable, fmt.Sprintf("Ceph cluster %s does not answer (mons %s). Check that a majority of its "+
			"mons runs and that pods of this cluster reach them; what is deployed stays as it is",
			cluster.FSID, strings.Join(cluster.MonMap.Monitors(), ", "))}
	}
	return verdict{condition.SyncError, fmt.Sprintf("Reading the monmap of Ceph cluster %s: %v", cluster.FSID, err)}
}

// addresses lists mons for a message: sorted and without protocols.
func addresses(list []ceph.Address) string {
	var out []string
	for _, a := range list {
		out = append(out, a.HostPort())
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ", ")
}
