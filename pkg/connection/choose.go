package connection

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// meantFor is the fsid of the Ceph cluster that the default classes shall use; empty while
// nobody has said so.
func (w world) meantFor() string { return cmp.Or(w.named, w.recorded.FSID) }

// field names the setting in messages.
func (w world) field() string {
	return "spec.driverConfig.ceph.cluster of ClusterCSIDriver " + w.driver.Name
}

// identity is what the Ceph cluster has to agree with to which a source leads.
func (w world) identity(key string, views []view) identity {
	id := identity{world: w, source: source{key: key}}
	for _, v := range views {
		if v.key == key {
			id.source = v.source
		}
	}
	fsid := w.meantFor()
	id.meant = meant{named: w.named, further: id.source.further || fsid != "" && served(fsid, views, key)}
	return id
}

// served says whether a source other than the one with key except leads to a Ceph cluster, or
// says that it does.
func served(fsid string, views []view, except string) bool {
	return slices.ContainsFunc(views, func(v view) bool {
		return v.key != except && v.exists() && (v.declared == fsid || v.live && v.cluster.FSID == fsid)
	})
}

// choose returns the fsid of the Ceph cluster that the default classes use, and the claims of
// those between which nobody has decided. A source that cannot be read makes no claim.
//
//	named            recorded  claims   | fsid
//	connected        any       any      | named
//	not              one       any      | recorded
//	one, not         none      any      | -
//	none             none      one      | that one, once connected
//	none             none      several  | - and the claims
func choose(w world, views []view) (fsid string, rivals []string) {
	connected := func(fsid string) bool {
		return slices.ContainsFunc(views, func(v view) bool { return v.live && v.cluster.FSID == fsid })
	}
	switch {
	case w.named != "" && connected(w.named):
		return w.named, nil
	case w.recorded.FSID != "" || w.named != "":
		return w.recorded.FSID, nil
	}
	claims := map[string]string{} // fsid, or key where that is unknown, to text
	for _, v := range views {
		if !v.exists() || !v.readable && !v.live {
			continue
		}
		id := v.declared
		if v.live {
			id = v.cluster.FSID
		}
		if _, known := claims[cmp.Or(id, v.key)]; !known {
			claims[cmp.Or(id, v.key)] = fmt.Sprintf("%s (%s)", cmp.Or(id, "fsid not known yet"), v.where)
			fsid = id
		}
	}
	if len(claims) > 1 {
		return "", slices.Sorted(maps.Values(claims))
	}
	if !connected(fsid) {
		return "", nil
	}
	return fsid, nil
}

// clusters are the Ceph clusters that are connected, ordered by fsid, and what there is to say
// of sources that are not needed for that.
func clusters(views []view) ([]ceph.Cluster, []verdict) {
	var all []ceph.Cluster
	var notes []verdict
	user := map[string]string{}
	for _, v := range views {
		if !v.live {
			continue
		}
		fsid := v.cluster.FSID
		if first, known := user[fsid]; known {
			notes = append(notes, verdict{condition.DuplicateCluster, fmt.Sprintf("%s and %s lead to the same Ceph cluster %s; the first is used. "+
				"Remove the other, or the label %s from it", first, v.where, fsid, driver.ClusterLabel)})
			continue
		}
		user[fsid] = v.where
		all = append(all, v.cluster)
	}
	slices.SortFunc(all, func(a, b ceph.Cluster) int { return strings.Compare(a.FSID, b.FSID) })
	return all, notes
}

// outcome is what is reported; known is false while that cannot be said.
type outcome struct {
	verdict verdict
	known   bool
	// notes are no fault of the Ceph cluster in use.
	notes []verdict
	// tooOld is what keeps the cluster from being upgraded, in sentences.
	tooOld []string
	// told says that no release is missing for that.
	told bool
}

// beside says whether a source is nothing to the Ceph cluster in use, which another one serves: it
// adds a Ceph cluster, or would if it made sense.
func beside(v view, fsid string, views []view) bool {
	connected := slices.ContainsFunc(views, func(u view) bool { return u.exists() && u.live && u.cluster.FSID == fsid })
	return v.further && connected && v.declared != fsid && !(v.live && v.cluster.FSID == fsid)
}

// judge merges what there is to say, ordered by source. While something is not known yet,
// nothing good is said.
func (w world) judge(views []view, fsid string, rivals []string) outcome {
	var bad, notes []verdict
	known, any := true, false
	for _, v := range views {
		known = known && v.known
		any = any || v.exists()
		switch {
		case !v.known || !v.verdict.bad():
		case beside(v, fsid, views):
			notes = append(notes, v.verdict)
		default:
			bad = append(bad, v.verdict)
		}
	}
	switch {
	case !any && w.wanted:
		bad = append(bad, missing())
	case !any:
		known = w.decided
	case len(rivals) > 0:
		bad = append(bad, verdict{condition.SeveralClusters, fmt.Sprintf("%d Ceph clusters are declared, and nobody has said which of "+
			"them the default classes use: %s. Set %s to the fsid of one", len(rivals), strings.Join(rivals, ", "), w.field())})
	case len(bad) == 0 && known:
		bad = w.unserved(views)
	}
	return outcome{verdict: merge(bad), known: known || len(bad) > 0, notes: notes}
}

// unserved complains when no source leads to the Ceph cluster of the default classes, unless
// one has a complaint of its own.
func (w world) unserved(views []view) []verdict {
	fsid := w.meantFor()
	if fsid == "" || served(fsid, views, "") {
		return nil
	}
	var others []string
	for _, v := range views {
		if v.exists() && v.live {
			others = append(others, fmt.Sprintf("%s to %s", v.where, v.cluster.FSID))
		}
	}
	leads := strings.Join(others, ", ")
	if w.named != "" {
		return []verdict{{condition.WrongCluster, fmt.Sprintf("%s is %s, but what is declared leads elsewhere (%s); correct it, "+
			"or declare that Ceph cluster", w.field(), w.named, leads)}}
	}
	if !w.wanted {
		return nil
	}
	return []verdict{{condition.CredentialsMissing, fmt.Sprintf("The volumes of the default classes are in Ceph cluster %s, which nothing "+
		"declares any more (%s). Declare it again, or set %s to another fsid to move new volumes there: those in %s"+leftBehind, fsid, leads, w.field(), fsid)}}
}

// merge is one verdict for all; the first one gives the reason.
func merge(all []verdict) verdict {
	if len(all) == 0 {
		return verdict{}
	}
	var messages []string
	for _, v := range all {
		if !slices.Contains(messages, v.message) {
			messages = append(messages, v.message)
		}
	}
	return verdict{all[0].reason, strings.Join(messages, "\n")}
}
