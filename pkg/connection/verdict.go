package connection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// where names the Secret in messages.
const where = "Secret " + driver.Namespace + "/" + SecretName

// verdict is what is wrong, in words that a person can act on; the zero verdict is that
// nothing is. Messages stand still while the fault stays the same.
type verdict struct {
	reason  string
	message string
}

func (v verdict) bad() bool { return v.reason != "" }

// missing is the verdict on a Secret that is gone while something still lives of it.
func missing() verdict {
	return verdict{condition.CredentialsMissing, where + " does not exist. What runs keeps running with what was known last, " +
		"but nothing is looked after. Create it again: oc -n " + driver.Namespace + " create secret generic " + SecretName +
		" --from-file=ceph.conf=/etc/ceph/ceph.conf --from-file=keyring=/etc/ceph/ceph.client.admin.keyring"}
}

// misread is the verdict on a Secret that ceph.ParseSource refused.
func misread(err error) verdict {
	if !errors.Is(err, ceph.ErrUnresolved) {
		return verdict{condition.CredentialsInvalid, where + ": " + err.Error()}
	}
	// The resolver's own text has port numbers that change with each try.
	entry := ceph.EntryConf
	var input *ceph.InputError
	if errors.As(err, &input) {
		entry = input.Entry
	}
	return verdict{condition.CephUnreachable, fmt.Sprintf("%s, key %q: none of the mons' host names can be resolved; "+
		"write IP addresses, or names that the cluster's DNS knows", where, entry)}
}

// refused is the verdict on a declaration with which no connection came about.
func refused(err error, source ceph.Source) verdict {
	user := "client." + source.UserID
	switch {
	case errors.Is(err, ceph.ErrWrongKey):
		return verdict{condition.AccessDenied, fmt.Sprintf("Ceph refuses %s of %s: the user does not exist there, has another key, "+
			"or has no mon caps. Compare with what `ceph auth get %s` prints, and put that into key %q",
			user, where, user, ceph.EntryKeyring)}
	case errors.Is(err, ceph.ErrDenied):
		return verdict{condition.AccessDenied, fmt.Sprintf("%s of %s may not read Ceph's monmap; its mon caps must contain 'allow r'. "+
			"`ceph auth get %s` shows its caps, `ceph auth caps` replaces them all", user, where, user)}
	case noAnswer(err):
		return verdict{condition.CephUnreachable, fmt.Sprintf("None of the mons of %s answers (%s). Check that they run and that "+
			"pods of this cluster reach their ports; if the mons have moved, update the Secret (`ceph mon dump` lists them)",
			where, addresses(source.Monitors))}
	}
	return verdict{condition.SyncError, fmt.Sprintf("Connecting to Ceph as %s of %s: %v", user, where, err)}
}

// silent is the verdict on a live connection whose polls fail for too long.
func silent(err error, cluster ceph.Cluster) verdict {
	user := "client." + cluster.Credentials.UserID
	switch {
	case errors.Is(err, ceph.ErrDenied):
		return verdict{condition.AccessDenied, fmt.Sprintf("%s may no longer read the monmap of Ceph cluster %s; "+
			"its mon caps must contain 'allow r', `ceph auth get %s` shows them", user, cluster.FSID, user)}
	case noAnswer(err):
		return verdict{condition.CephUnreachable, fmt.Sprintf("Ceph cluster %s does not answer (mons %s). Check that a majority of its "+
			"mons runs and that pods of this cluster reach them; what is deployed stays as it is",
			cluster.FSID, strings.Join(cluster.MonMap.Monitors(), ", "))}
	}
	return verdict{condition.SyncError, fmt.Sprintf("Reading the monmap of Ceph cluster %s: %v", cluster.FSID, err)}
}

// noAnswer also holds for a connection that was closed under the call.
func noAnswer(err error) bool {
	for _, target := range []error{ceph.ErrTimeout, ceph.ErrUnreachable, ceph.ErrClosed, context.DeadlineExceeded} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// errEpoch says that a monmap is older than one that was seen before.
var errEpoch = errors.New("monmap went back")

// identity is what a monmap has to agree with before anything is made of it.
type identity struct {
	driver driver.Driver
	// declared is the fsid of the Secret, named the one of spec.driverConfig.ceph.cluster;
	// both may be empty.
	declared, named string
	// recorded is what an earlier connection found; the zero Cluster when there was none.
	recorded state.Cluster
}

// check decides whether the Ceph cluster that answered is the one that is meant, and
// whether to use it. It may be used with a verdict on it: what runs goes on.
//
//	declared      named        recorded     | use  verdict
//	another       any          any          | no   WrongCluster
//	same or none  same         any          | yes  -            named is the consent to move
//	same or none  none         same or none | yes  -
//	same or none  none         another      | no   WrongCluster
//	same or none  another      same         | yes  WrongCluster
//	same or none  another      other, none  | no   WrongCluster
func (i identity) check(live string) (use bool, v verdict) {
	wrong := func(format string, args ...any) verdict {
		return verdict{condition.WrongCluster, fmt.Sprintf(format, args...)}
	}
	field := "spec.driverConfig.ceph.cluster of ClusterCSIDriver " + i.driver.Name
	switch {
	case i.declared != "" && i.declared != live:
		return false, wrong("%s declares the fsid %s, but its mons belong to Ceph cluster %s; correct fsid or mons: "+
			"`ceph fsid` and `ceph mon dump` print them", where, i.declared, live)
	case i.named == live:
		return true, verdict{}
	case i.named != "":
		return i.recorded.FSID == live, wrong("%s is %s, but %s leads to Ceph cluster %s; correct one of them",
			field, i.named, where, live)
	case i.recorded.FSID != "" && i.recorded.FSID != live:
		return false, wrong("%s leads to Ceph cluster %s, but the volumes of this cluster are in %s. Put the credentials of "+
			"that one back, or set %s to %s to move new volumes there", where, live, i.recorded.FSID, field, live)
	}
	return true, verdict{}
}

// older says whether a monmap is older than what is recorded of the same Ceph cluster.
func (i identity) older(m ceph.MonMap) error {
	if m.FSID != i.recorded.FSID || m.Epoch >= i.recorded.Epoch {
		return nil
	}
	return fmt.Errorf("%w: epoch %d was seen before; if the mons were rebuilt, delete key \"cluster\" of ConfigMap %s/%s",
		errEpoch, i.recorded.Epoch, driver.Namespace, i.driver.StateConfigMap())
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
