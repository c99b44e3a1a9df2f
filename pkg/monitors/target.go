package monitors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

const (
	configMapKind = "ConfigMap"
	secretKind    = "Secret"

	// monsParameter of a StorageClass names the key of its Secrets in which ceph-csi 1.0 looked
	// for mons.
	monsParameter = "monValueFromSecret"
)

// errTarget says that a target is not what it has to be.
var errTarget = errors.New("unusable")

func unusable(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errTarget, fmt.Sprintf(format, args...))
}

// reasonOf is the text of an errTarget alone.
func reasonOf(err error) string { return strings.TrimPrefix(err.Error(), errTarget.Error()+": ") }

// target is one key of somebody else's object.
type target struct {
	kind, namespace, name, key string
	// because names what an administrator wrote to have it kept.
	because string
	// clusterID is the Ceph cluster of a Secret; empty if nobody said.
	clusterID string
}

// String names the target in messages.
func (t target) String() string {
	return fmt.Sprintf("key %q of %s %s/%s", t.key, t.kind, t.namespace, t.name)
}

// secretRoles start the parameters of a StorageClass that name Secrets: those of today, and
// those of before Kubernetes 1.13.
var secretRoles = []struct{ name, namespace string }{
	{"csi.storage.k8s.io/provisioner-secret-name", "csi.storage.k8s.io/provisioner-secret-namespace"},
	{"csi.storage.k8s.io/node-publish-secret-name", "csi.storage.k8s.io/node-publish-secret-namespace"},
	{"csi.storage.k8s.io/node-stage-secret-name", "csi.storage.k8s.io/node-stage-secret-namespace"},
	{"csi.storage.k8s.io/controller-expand-secret-name", "csi.storage.k8s.io/controller-expand-secret-namespace"},
	{"csiProvisionerSecretName", "csiProvisionerSecretNamespace"},
	{"csiNodePublishSecretName", "csiNodePublishSecretNamespace"},
	{"csiNodeStageSecretName", "csiNodeStageSecretNamespace"},
}

// secretsOf are the Secrets in which a StorageClass has mons. Names with a variable of the
// volume in them are left out: nobody knows them.
func secretsOf(class string, parameters map[string]string) []target {
	key := parameters[monsParameter]
	if key == "" {
		return nil
	}
	var out []target
	for _, role := range secretRoles {
		name, namespace := parameters[role.name], parameters[role.namespace]
		if name == "" || namespace == "" || strings.Contains(name+namespace, "${") {
			continue
		}
		out = append(out, target{kind: secretKind, namespace: namespace, name: name, key: key,
			because: monsParameter + " of StorageClass " + class, clusterID: parameters["clusterID"]})
	}
	return out
}

// entries returns a config.json with the mons of the connected clusters.
func (t target) entries(before []byte, found bool, clusters []ceph.Cluster, picks bool) ([]byte, error) {
	if !found {
		return nil, unusable("does not exist")
	}
	known := false
	after, err := replaceMonitors(before, func(clusterID string, mons []string) []string {
		i := slices.IndexFunc(clusters, func(c ceph.Cluster) bool { return c.FSID == clusterID })
		if i < 0 {
			return nil
		}
		known = true
		return alike(clusters[i].MonMap, mons, picks)
	})
	if err != nil {
		return nil, unusable("is %v", errNoEntries)
	}
	if !known {
		return nil, unusable("has no entry whose clusterID is the fsid of a connected Ceph cluster (%s)", fsids(clusters))
	}
	return after, nil
}

// mons returns the list in a Secret. What does not look like addresses is not overwritten: it
// could be a key.
func (t target) mons(before []byte, found bool, clusters []ceph.Cluster, picks bool) ([]byte, error) {
	if !found {
		return nil, unusable("does not exist")
	}
	text := strings.TrimSpace(string(before))
	mons, err := ceph.SplitMonHost(text)
	if err == nil {
		_, err = ceph.ParseMonHost(context.Background(), text, ceph.Nameless)
	}
	if err != nil {
		return nil, unusable("is no list of mon addresses")
	}
	c, err := t.cluster(mons, clusters)
	if err != nil {
		return nil, err
	}
	after := alike(c.MonMap, mons, picks)
	if sameSet(after, mons) {
		return before, nil
	}
	return []byte(strings.Join(after, ",")), nil
}

// cluster is the Ceph cluster that the Secret is of: the one that the class names, or one that
// has some of the mons, or the only one.
func (t target) cluster(mons []string, clusters []ceph.Cluster) (ceph.Cluster, error) {
	for _, c := range clusters {
		if t.clusterID != "" && c.FSID == t.clusterID {
			return c, nil
		}
	}
	if t.clusterID != "" {
		return ceph.Cluster{}, unusable("is of Ceph cluster %s, which is not connected (%s)", t.clusterID, fsids(clusters))
	}
	of := slices.DeleteFunc(slices.Clone(clusters), func(c ceph.Cluster) bool { return !c.MonMap.HasMon(mons) })
	switch {
	case len(of) == 1:
		return of[0], nil
	case len(of) > 1:
		return ceph.Cluster{}, unusable("has mons of several connected Ceph clusters (%s), and the StorageClass has no clusterID", fsids(of))
	case len(clusters) == 1:
		return clusters[0], nil
	}
	return ceph.Cluster{}, unusable("has mons of none of the connected Ceph clusters (%s), and the StorageClass has no clusterID", fsids(clusters))
}

// alike lists the mons by the protocols that a list has them by: by both only where clients pick (Driver.PicksMons), and by v2
// only where no address of it is one of v1. A list that names them so already stays as it is, however it is written.
func alike(m ceph.MonMap, before []string, picks bool) []string {
	spoken, known, strange := map[ceph.Protocol]bool{}, map[string]bool{}, false
	for _, entry := range before {
		listed := ceph.ListedAddresses(entry)
		for _, a := range listed {
			spoken[m.ProtocolAt(a)] = true
			known[a.HostPort()] = m.Has(a)
		}
		strange = strange || !slices.ContainsFunc(listed, m.Has)
		if len(listed) == 0 && strings.HasSuffix(entry, ":3300") {
			spoken[ceph.V2] = true
		}
	}
	v1 := spoken[ceph.V1] || spoken[ceph.Any] || !spoken[ceph.V2]
	var out []string
	if v1 {
		out = append(out, m.Monitors()...)
	}
	if spoken[ceph.V2] && (picks || !v1) {
		for _, a := range m.MonHost() {
			out = append(out, a.HostPort())
		}
	}
	if !strange && !slices.ContainsFunc(out, func(hostPort string) bool { return !known[hostPort] }) {
		return before
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func fsids(clusters []ceph.Cluster) string {
	var out []string
	for _, c := range clusters {
		out = append(out, c.FSID)
	}
	return strings.Join(out, ", ")
}
