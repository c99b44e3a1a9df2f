package teardown

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/infraid"
)

// Living are the volumes and snapshots that objects of living clusters name.
type Living struct {
	// by UUID, and by name for volumes whose handle was not made up by ceph-csi.
	uuids, names map[string]string
}

// NewLiving returns an empty set.
func NewLiving() *Living { return &Living{uuids: map[string]string{}, names: map[string]string{}} }

// Add notes what an object names: its handle, and names of an image or subvolume. whose says which
// object it is, such as "PersistentVolume pv-1 of cluster b".
func (l *Living) Add(whose, handle string, names ...string) {
	if parsed, err := ceph.ParseVolumeHandle(handle); err == nil {
		l.uuids[parsed.UUID] = whose
	}
	// Of a static volume, the handle is any name, often that of the image.
	for _, name := range append(names, handle) {
		if name != "" {
			l.names[name] = whose
		}
		if parsed, ok := ceph.ParseCSIName(name); ok {
			l.uuids[parsed.UUID] = whose
		}
	}
}

// Names says which object names an item; "" means none. A UUID is made up once: where it lies does
// not matter.
func (l *Living) Names(i Item) string {
	if whose := l.uuids[i.UUID]; i.UUID != "" && whose != "" {
		return whose
	}
	return l.names[i.Name]
}

// Len is how many names there are.
func (l *Living) Len() int { return len(l.uuids) + len(l.names) }

var (
	snapshotContents = schema.GroupVersionResource{Group: "snapshot.storage.k8s.io", Version: "v1", Resource: "volumesnapshotcontents"}
	infrastructures  = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "infrastructures"}
)

// pageSize bounds what one answer of the API server holds.
const pageSize = 500

// ReadLiving reads what the PersistentVolumes and VolumeSnapshotContents of a cluster name, and the
// infra ID of that cluster.
func ReadLiving(ctx context.Context, kube kubernetes.Interface, objects dynamic.Interface) (infraID string, living *Living, err error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	infrastructure, err := objects.Resource(infrastructures).Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		return "", nil, fmt.Errorf("reading Infrastructure cluster, which has the infra ID: %w", err)
	}
	said, _, _ := unstructured.NestedString(infrastructure.Object, "status", "infrastructureName")
	if infraID, err = infraid.Read(ctx, kube, said); err != nil {
		return "", nil, err
	}
	if infraID == "" {
		return "", nil, fmt.Errorf("reading Infrastructure cluster: it has no infrastructureName")
	}
	living = NewLiving()
	page := metav1.ListOptions{Limit: pageSize}
	for {
		volumes, err := kube.CoreV1().PersistentVolumes().List(ctx, page)
		if err != nil {
			return "", nil, fmt.Errorf("listing PersistentVolumes: %w", err)
		}
		for i := range volumes.Items {
			living.addVolume(infraID, &volumes.Items[i])
		}
		if page.Continue = volumes.Continue; page.Continue == "" {
			break
		}
	}
	return infraID, living, living.addSnapshots(ctx, infraID, objects)
}

func (l *Living) addVolume(infraID string, v *corev1.PersistentVolume) {
	whose := fmt.Sprintf("PersistentVolume %s of cluster %s", v.Name, infraID)
	switch {
	case v.Spec.CSI != nil && isOurs(v.Spec.CSI.Driver):
		attributes := v.Spec.CSI.VolumeAttributes
		names := []string{attributes["imageName"], attributes["subvolumeName"]}
		for _, path := range []string{attributes["rootPath"], attributes["subvolumePath"]} {
			names = append(names, strings.Split(path, "/")...)
		}
		l.Add(whose, v.Spec.CSI.VolumeHandle, names...)
	case v.Spec.RBD != nil:
		l.Add(whose, "", v.Spec.RBD.RBDImage)
	case v.Spec.CephFS != nil:
		l.Add(whose, "", strings.Split(v.Spec.CephFS.Path, "/")...)
	}
}

func (l *Living) addSnapshots(ctx context.Context, infraID string, objects dynamic.Interface) error {
	page := metav1.ListOptions{Limit: pageSize}
	for {
		contents, err := objects.Resource(snapshotContents).List(ctx, page)
		if apierrors.IsNotFound(err) {
			return nil // The cluster has no snapshots at all.
		}
		if err != nil {
			return fmt.Errorf("listing VolumeSnapshotContents: %w", err)
		}
		for _, c := range contents.Items {
			if name, _, _ := unstructured.NestedString(c.Object, "spec", "driver"); !isOurs(name) {
				continue
			}
			whose := fmt.Sprintf("VolumeSnapshotContent %s of cluster %s", c.GetName(), infraID)
			for _, path := range [][]string{{"spec", "source", "snapshotHandle"}, {"status", "snapshotHandle"}} {
				handle, _, _ := unstructured.NestedString(c.Object, path...)
				l.Add(whose, handle)
			}
		}
		if page.Continue = contents.GetContinue(); page.Continue == "" {
			return nil
		}
	}
}

func isOurs(name string) bool {
	_, ours := driver.Named(name)
	return ours
}

// ParseHandles reads a list of volume handles, one in each line with perhaps the name of its
// PersistentVolume behind it; lines that start with "#" are skipped. source is where it comes from.
func ParseHandles(text, source string) *Living {
	living := NewLiving()
	for _, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		whose := source
		if len(words) > 1 {
			whose = fmt.Sprintf("PersistentVolume %s in %s", words[1], source)
		}
		living.Add(whose, words[0])
	}
	return living
}
