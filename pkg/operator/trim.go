package operator

import (
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// volumeAttributes are what the features read of those that ceph-csi gives a volume.
var volumeAttributes = []string{"clusterID", "pool", "dataPool", "fsName", "mounter", "tryOtherMounters", "journalPool", "radosNamespace", "staticVolume", "backingSnapshot", "mapOptions", "kernelMountOptions"}

// volumeTrimmer keeps of PersistentVolumes what the features read. With 20,000 of them that
// is a third of the private memory that the process would need otherwise.
type volumeTrimmer struct {
	// driver is the one of whose volumes more is kept than that they are there; of those that others
	// like it serve, too.
	driver driver.Driver
	// held has them by name.
	held cache.Store

	mu sync.Mutex
	// shared are the attributes of volumes, by their text: those of a class are all the same.
	shared map[string]map[string]string
	// legacy are the places of volumes from before CSI, by their text.
	legacy map[string]corev1.PersistentVolumeSource
	// names are those of other CSI drivers.
	names map[string]string
}

func newVolumeTrimmer(d driver.Driver, held cache.Store) *volumeTrimmer {
	return &volumeTrimmer{driver: d, held: held, shared: map[string]map[string]string{}, legacy: map[string]corev1.PersistentVolumeSource{}, names: map[string]string{}}
}

// trim works in place. A smaller copy would be among volumes of its own size, which go: their places
// stay empty, which was 10 MB with 20,000 volumes. For the same reason a volume that is listed again as it was stays where
// it is.
func (t *volumeTrimmer) trim(obj any) (any, error) {
	pv, ok := obj.(*corev1.PersistentVolume)
	if !ok {
		return obj, nil
	}
	held, _, err := t.held.GetByKey(pv.Name)
	if err != nil || held == obj {
		return obj, err
	}
	out := corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: pv.Name, UID: pv.UID, ResourceVersion: pv.ResourceVersion, DeletionTimestamp: pv.DeletionTimestamp},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName:              pv.Spec.StorageClassName,
			PersistentVolumeReclaimPolicy: pv.Spec.PersistentVolumeReclaimPolicy,
		},
		Status: corev1.PersistentVolumeStatus{Phase: pv.Status.Phase},
	}
	if pv.Spec.CSI == nil {
		out.Spec.PersistentVolumeSource = t.before(pv.Spec)
	}
	if csi := pv.Spec.CSI; csi != nil && (csi.Driver == t.driver.Name || t.driver.KinServes(csi)) {
		*csi = corev1.CSIPersistentVolumeSource{
			Driver: t.name(csi.Driver), VolumeHandle: csi.VolumeHandle, VolumeAttributes: t.attributes(csi.VolumeAttributes),
			ControllerPublishSecretRef: elsewhere(csi.ControllerPublishSecretRef), ControllerExpandSecretRef: elsewhere(csi.ControllerExpandSecretRef),
		}
		out.Spec.CSI = csi
		if secret := driver.DeletionSecret(pv); elsewhere(secret) != nil {
			driver.SetDeletionSecret(&out, secret)
		}
	}
	*pv = out
	if held != nil && equality.Semantic.DeepEqual(held, obj) {
		return held, nil
	}
	return pv, nil
}

// elsewhere is a Secret that the driver's controllers may not be allowed to read. Few volumes have one.
func elsewhere(secret *corev1.SecretReference) *corev1.SecretReference {
	if secret == nil || secret.Namespace == driver.Namespace {
		return nil
	}
	return secret
}

// name returns the text that all volumes of a CSI driver share.
func (t *volumeTrimmer) name(of string) string {
	if of == t.driver.Name {
		return t.driver.Name
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, ok := t.names[of]; ok {
		return known
	}
	t.names[of] = of
	return of
}

// before returns what is kept of a volume from before CSI. Volumes at the same place share it:
// nobody may change it.
func (t *volumeTrimmer) before(spec corev1.PersistentVolumeSpec) corev1.PersistentVolumeSource {
	var kept corev1.PersistentVolumeSpec
	driver.KeepLegacy(spec, &kept)
	source := kept.PersistentVolumeSource
	if source == (corev1.PersistentVolumeSource{}) {
		return source
	}
	text := fmt.Sprintf("%+v %+v %+v", source.RBD, source.CephFS, source.FlexVolume)
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, ok := t.legacy[text]; ok {
		return known
	}
	t.legacy[text] = source
	return source
}

// attributes returns a map that volumes with the same attributes share: nobody may change it.
func (t *volumeTrimmer) attributes(all map[string]string) map[string]string {
	kept := map[string]string{}
	var text strings.Builder
	for _, name := range volumeAttributes {
		if value, ok := all[name]; ok {
			kept[name] = value
			fmt.Fprintf(&text, "%s=%q,", name, value)
		}
	}
	// An administrator's volume is found by its whole path; there are few.
	if path := all[driver.RootPathAttribute]; driver.Static(all) && path != "" {
		kept[driver.RootPathAttribute] = path
		fmt.Fprintf(&text, "%q,", path)
	}
	// Each volume has a path of its own, but many share what is read of it.
	if directory := driver.Directory(all); directory != "" {
		kept[driver.SubvolumePathAttribute] = directory
		fmt.Fprintf(&text, "%q", directory)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, ok := t.shared[text.String()]; ok {
		return known
	}
	t.shared[text.String()] = kept
	return kept
}

// trimNode keeps of a Node that it is there.
func trimNode(obj any) (any, error) {
	node, ok := obj.(*corev1.Node)
	if !ok {
		return obj, nil
	}
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node.Name, UID: node.UID, ResourceVersion: node.ResourceVersion}}, nil
}

// trimCRD keeps of a CustomResourceDefinition which versions are served: schemas are large.
func trimCRD(obj any) (any, error) {
	crd, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return obj, nil
	}
	out := &unstructured.Unstructured{Object: map[string]any{}}
	out.SetName(crd.GetName())
	out.SetUID(crd.GetUID())
	out.SetResourceVersion(crd.GetResourceVersion())
	versions := []any{}
	for _, name := range servedVersions(crd) {
		versions = append(versions, map[string]any{"name": name, "served": true})
	}
	return out, unstructured.SetNestedSlice(out.Object, versions, "spec", "versions")
}

// servedVersions of a CustomResourceDefinition, trimmed or not. One that is being deleted
// serves none any more: objects cannot be created.
func servedVersions(obj any) []string {
	crd, ok := obj.(*unstructured.Unstructured)
	if !ok || crd.GetDeletionTimestamp() != nil {
		return nil
	}
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	var out []string
	for _, v := range versions {
		version, ok := v.(map[string]any)
		if !ok || version["served"] != true {
			continue
		}
		if name, ok := version["name"].(string); ok {
			out = append(out, name)
		}
	}
	return out
}
