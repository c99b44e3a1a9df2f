package status

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/connection"
	"github.com/openshift/ceph-csi-driver-operator/pkg/credentials"
	"github.com/openshift/ceph-csi-driver-operator/pkg/pools"
	"github.com/openshift/ceph-csi-driver-operator/pkg/tags"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
	"github.com/openshift/ceph-csi-driver-operator/pkg/virtualization"
)

// Document is status.yaml. It has no time and nothing that moves by itself: it is written only
// when something changed. It never has a key.
type Document struct {
	Driver string `json:"driver"`
	// CephClusters are sorted by fsid; the default StorageClass lies in one of them.
	CephClusters []cephCluster `json:"cephClusters"`
	DefaultClass *place        `json:"defaultClass,omitempty"`
	Credentials  *cephUsers    `json:"credentials,omitempty"`
	// Volumes and LegacyVolumes are counted in all Ceph clusters, also those that are not
	// connected. Legacy ones are from before CSI.
	Volumes       int `json:"volumes"`
	LegacyVolumes int `json:"legacyVolumes"`
	// VirtualMachines says by StorageClass and feature "yes", or "no: " and why.
	VirtualMachines map[string]map[string]string `json:"virtualMachines,omitempty"`
	// VirtualMachinesOmitted counts StorageClasses for which there is no room.
	VirtualMachinesOmitted int `json:"virtualMachinesOmitted,omitempty"`
}

type cephCluster struct {
	FSID        string              `json:"fsid"`
	Version     string              `json:"version,omitempty"`
	Sources     []string            `json:"sources,omitempty"`
	MonmapEpoch int64               `json:"monmapEpoch"`
	Monitors    map[string][]string `json:"monitors"`
	Pools       poolNames           `json:"pools"`
	Filesystems []string            `json:"filesystems,omitempty"`
	Volumes     int                 `json:"volumes"`
	// Tags is absent while not all volumes have been looked at.
	Tags *tagCounts `json:"tags,omitempty"`
}

// tagCounts are numbers of volumes and snapshots; see tags.Counts.
type tagCounts struct {
	Tagged       int `json:"tagged"`
	Untagged     int `json:"untagged"`
	Conflicting  int `json:"conflicting"`
	Missing      int `json:"missing"`
	NothingToTag int `json:"nothingToTag"`
}

type poolNames struct {
	InUse     []string `json:"inUse,omitempty"`
	Missing   []string `json:"missing,omitempty"`
	Protected []string `json:"protected,omitempty"`
	// Omitted counts the names for which there is no room in these lists and that of filesystems.
	Omitted int `json:"omitted,omitempty"`
}

type place struct {
	FSID           string `json:"fsid"`
	Pool           string `json:"pool,omitempty"`
	DataPool       string `json:"dataPool,omitempty"`
	Filesystem     string `json:"filesystem,omitempty"`
	SubvolumeGroup string `json:"subvolumeGroup,omitempty"`
	// JournalNamespace is the RADOS namespace of the subvolumes' journal, where it is not ceph-csi's own.
	JournalNamespace string `json:"journalNamespace,omitempty"`
}

type cephUsers struct {
	Mode   string   `json:"mode"`
	Users  []string `json:"users"`
	Reason string   `json:"reason,omitempty"`
}

// Read reads what an operator of any version has written into its status ConfigMap.
func Read(configMap *corev1.ConfigMap) (Document, error) {
	text, found := configMap.Data[key]
	if !found {
		return Document{}, fmt.Errorf("ConfigMap %s has no %s", configMap.Name, key)
	}
	var doc Document
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return Document{}, fmt.Errorf("reading %s of ConfigMap %s: %w", key, configMap.Name, err)
	}
	return doc, nil
}

// facts are what the features have told so far; what none has told is empty.
type facts struct {
	driver      string
	clusters    []ceph.Cluster
	connections []connection.Report
	users       credentials.Users
	pools       pools.Report
	tags        tags.Report
	usage       usage.Usage
	placement   ceph.Placement
	machines    virtualization.Machines
}

const (
	// mostBytes leaves room in the 1 MiB that a ConfigMap may have, mostNames are listed of a kind.
	mostBytes = 900_000
	mostNames = 500
)

// render returns status.yaml, with as many names as there is room for.
func render(f facts) (string, error) {
	for most := mostNames; ; most /= 2 {
		text, err := renderUpTo(f, most)
		if err != nil || len(text) <= mostBytes || most == 0 {
			return text, err
		}
	}
}

// renderUpTo lists that many names of a kind at most.
func renderUpTo(f facts, most int) (string, error) {
	doc := Document{Driver: f.driver, Volumes: f.usage.Volumes(), LegacyVolumes: f.usage.LegacyVolumes()}
	for _, c := range f.clusters {
		doc.CephClusters = append(doc.CephClusters, describe(c, f, most))
	}
	slices.SortFunc(doc.CephClusters, func(a, b cephCluster) int { return cmp.Compare(a.FSID, b.FSID) })
	if f.placement != (ceph.Placement{}) {
		p := place(f.placement)
		doc.DefaultClass = &p
	}
	if f.users.Mode != "" {
		doc.Credentials = &cephUsers{Mode: f.users.Mode, Users: sorted(f.users.Names), Reason: f.users.Reason}
	}
	classes, omitted := f.machines.Classes(most)
	doc.VirtualMachines, doc.VirtualMachinesOmitted = answers(f.machines, classes), omitted
	text, err := yaml.Marshal(doc)
	if err != nil {
		return "", fmt.Errorf("writing %s: %w", key, err)
	}
	return string(text), nil
}

func answers(machines virtualization.Machines, classes []string) map[string]map[string]string {
	out := map[string]map[string]string{}
	for _, class := range classes {
		out[class] = map[string]string{}
		for feature, why := range machines[class] {
			out[class][feature] = "yes"
			if why != "" {
				out[class][feature] = "no: " + why
			}
		}
	}
	return out
}

func describe(c ceph.Cluster, f facts, most int) cephCluster {
	out := cephCluster{
		FSID: c.FSID, MonmapEpoch: c.MonMap.Epoch, Monitors: map[string][]string{},
		Pools: poolNames{Missing: sorted(f.pools.Missing[c.FSID]), Protected: sorted(f.pools.Protected[c.FSID])},
	}
	for _, mon := range c.MonMap.Mons {
		for _, a := range mon.Addrs {
			out.Monitors[mon.Name] = append(out.Monitors[mon.Name], a.String())
		}
	}
	for _, connection := range f.connections {
		if connection.FSID == c.FSID {
			out.Version, out.Sources = connection.Version, sorted(connection.Sources)
		}
	}
	for _, used := range f.usage.In(c) {
		out.Volumes += used.Volumes
		out.Pools.InUse = append(out.Pools.InUse, used.Pool, used.DataPool)
		out.Filesystems = append(out.Filesystems, used.Filesystem)
	}
	if counts, known := f.tags[c.FSID]; known {
		seen := tagCounts(counts)
		out.Tags = &seen
	}
	out.Pools.InUse, out.Filesystems = sorted(out.Pools.InUse), sorted(out.Filesystems)
	for _, names := range []*[]string{&out.Pools.InUse, &out.Pools.Missing, &out.Pools.Protected, &out.Filesystems} {
		if len(*names) > most {
			out.Pools.Omitted += len(*names) - most
			*names = (*names)[:most]
		}
	}
	return out
}

// sorted returns names without repetitions and empty ones.
func sorted(names []string) []string {
	out := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" })
	slices.Sort(out)
	return slices.Compact(out)
}
