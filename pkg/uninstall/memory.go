package uninstall

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/monitors"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// memory is what the drivers' operators have left on the cluster about Ceph clusters.
type memory struct {
	// current are the fsids of those in which the default classes make volumes, others those of
	// the rest.
	current, others []string
	// rook are the namespaces of Rook that the settings name that were valid last.
	rook []string
	// mons are the newest that are known, by fsid.
	mons map[string][]ceph.Address
}

// recall reads states, config.json, and the classes, which outlive the namespace.
func recall(ctx context.Context, o Options) (memory, error) {
	m := memory{mons: map[string][]ceph.Address{}}
	configMaps, err := stored(ctx, o)
	if err != nil {
		return m, err
	}
	for _, d := range o.drivers() {
		clusters, _, err := state.Clusters(nil, nil, d).In(configMaps[d.StateConfigMap()])
		if err != nil {
			return m, err
		}
		m.note(clusters)
		settings, _, err := state.LastSettings(nil, nil, d).In(configMaps[d.StateConfigMap()])
		if err != nil {
			return m, err
		}
		if namespace, ok := settings.Ceph["rookNamespace"].(string); ok && namespace != "" {
			m.rook = append(m.rook, namespace)
		}
		if err := m.readConfig(ctx, o, d); err != nil {
			return m, err
		}
		class, err := o.Kube.StorageV1().StorageClasses().Get(ctx, d.StorageClass, metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return m, fmt.Errorf("reading StorageClass %s: %w", d.StorageClass, err)
		}
		if err == nil && d.Owns(class) {
			m.current = append(m.current, class.Parameters["clusterID"])
		}
	}
	m.current = distinct(m.current)
	m.others = slices.DeleteFunc(distinct(m.others), func(fsid string) bool { return slices.Contains(m.current, fsid) })
	return m, nil
}

func distinct(names []string) []string {
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}

func (m *memory) note(clusters state.Cluster) {
	m.current = append(m.current, clusters.FSID)
	m.learn(clusters.FSID, clusters.MonHost)
	for _, other := range clusters.Others {
		m.others = append(m.others, other.FSID)
		m.learn(other.FSID, other.MonHost)
	}
}

// readConfig learns the mons of config.json: it is written first, and mounted by what still runs.
func (m *memory) readConfig(ctx context.Context, o Options, d driver.Driver) error {
	secret, err := o.Kube.CoreV1().Secrets(driver.Namespace).Get(ctx, d.ConfigSecret(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading Secret %s/%s: %w", driver.Namespace, d.ConfigSecret(), err)
	}
	entries, err := ceph.ParseConfig(secret.Data[monitors.ConfigKey])
	if err != nil {
		return nil // As with a list of mons that somebody has spoilt.
	}
	for _, entry := range entries {
		m.learn(entry.ClusterID, entry.Monitors)
	}
	return nil
}

// learn adds mons; a list that somebody has spoilt is of no help, and no obstacle.
func (m *memory) learn(fsid string, mons []string) {
	addresses, err := ceph.ParseMonHost(context.Background(), strings.Join(mons, ","), ceph.Nameless)
	if err == nil {
		m.mons[fsid] = ceph.UniqueAddresses(slices.Concat(m.mons[fsid], addresses))
	}
}

// stored are the data of the ConfigMaps of the namespace, by name.
func stored(ctx context.Context, o Options) (map[string]map[string]string, error) {
	list, err := o.Kube.CoreV1().ConfigMaps(driver.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing ConfigMaps: %w", err)
	}
	out := map[string]map[string]string{}
	for _, configMap := range list.Items {
		out[configMap.Name] = configMap.Data
	}
	return out, nil
}
