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
)

// errEpoch says that a monmap is older than one that was seen before.
var errEpoch = errors.New("monmap went back")

// meant is what decides whether another attempt is worth it before the pause is over.
type meant struct {
	named string
	// further: the source need not lead to the Ceph cluster in use, because it adds one, or
	// because another source leads there.
	further bool
}

// identity is what a monmap has to agree with before anything is made of it.
type identity struct {
	world
	meant
	source source
	// declared is the fsid that the source declares; empty when it has none.
	declared string
}

// leftBehind is what the consent to move costs: the driver's Secrets have keys of one Ceph cluster.
const leftBehind = " are then neither mounted anew, expanded nor deleted, until it is named again"

// check decides whether the Ceph cluster that answered is one that is meant, and whether to use
// it. It may be used with a verdict on it: what runs goes on.
//
//	declared      further  named    recorded     | use  verdict
//	another       any      any      any          | no   WrongCluster
//	same or none  any      same     any          | yes  -            named is the consent to move
//	same or none  yes      any      any          | yes  -
//	same or none  no       none     same or none | yes  -
//	same or none  no       none     another      | no   WrongCluster
//	same or none  no       another  same         | yes  WrongCluster
//	same or none  no       another  other, none  | no   WrongCluster
func (i identity) check(live string) (use bool, v verdict) {
	wrong := func(format string, args ...any) verdict {
		return verdict{condition.WrongCluster, fmt.Sprintf(format, args...)}
	}
	named := i.meant.named
	switch {
	case i.declared != "" && i.declared != live:
		return false, wrong("%s declares the fsid %s, but its mons belong to Ceph cluster %s; correct fsid or mons: "+
			"`ceph fsid` and `ceph mon dump` print them", i.source.where, i.declared, live)
	case named == live, i.further:
		return true, verdict{}
	case named != "":
		return i.recorded.FSID == live, wrong("%s is %s, but %s leads to Ceph cluster %s; correct one of them",
			i.field(), named, i.source.where, live)
	case i.recorded.FSID != "" && i.recorded.FSID != live:
		return false, wrong("%s leads to Ceph cluster %s, but the volumes of this cluster are in %s. Put the credentials of "+
			"that one back, declare %s in a Secret of its own with the label %s, or set %s to %s to move new volumes there: those in %s"+leftBehind,
			i.source.where, live, i.recorded.FSID, live, driver.ClusterLabel, i.field(), live, i.recorded.FSID)
	}
	return true, verdict{}
}

// older says whether a monmap is older than what is recorded of the same Ceph cluster.
func (i identity) older(m ceph.MonMap) error {
	epoch := i.recorded.Of(m.FSID).Epoch
	if m.Epoch >= epoch {
		return nil
	}
	return fmt.Errorf("%w: epoch %d was seen before; if the mons were rebuilt, delete key \"cluster\" of ConfigMap %s/%s",
		errEpoch, epoch, driver.Namespace, i.driver.StateConfigMap())
}

// target is what Dial gets: without the fsid, which is compared here, where the message can
// name both; and with the mons that were known last, because all of those in the Secret may
// have been replaced since. They are left out when it is not certain which Ceph cluster is
// meant: a list with mons of two leads to either.
func target(source ceph.Source, id identity) ceph.Source {
	fsid := source.FSID
	if fsid == "" && !id.further {
		fsid = id.meantFor()
	}
	source.FSID = ""
	known, err := ceph.ParseMonHost(context.Background(), strings.Join(id.recorded.Of(fsid).MonHost, ","), ceph.Nameless)
	if err != nil { // none recorded, or edited by hand
		return source
	}
	source.Monitors = ceph.UniqueAddresses(slices.Concat(source.Monitors, known))
	return source
}
