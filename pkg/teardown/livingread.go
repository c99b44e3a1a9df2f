package teardown

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/infraid"
	"github.com/openshift/ceph-csi-driver-operator/pkg/monitors"
	"github.com/openshift/ceph-csi-driver-operator/pkg/proof"
)

var infrastructures = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "infrastructures"}

// LivingCluster is what the objects of a cluster name.
type LivingCluster struct {
	InfraID string
	// Ours are volumes and snapshots of the operator's drivers, Others those of other CSI drivers of
	// Ceph, of Kubernetes' own plugins and of flexVolumes: whatever their tags, they are not the
	// operator's.
	Ours, Others *Living
	// Shown is what lies on the paths of the operator's volumes, and need not be theirs: the subvolume whose
	// snapshot a volume shows, or an administrator's.
	Shown *Living
	// Retained are those of Ours that are to outlive their objects.
	Retained *Living
	// JournalNamespaces are the RADOS namespaces that config.json has for journals of CephFS.
	JournalNamespaces []string
}

// ReadLiving reads what the PersistentVolumes and VolumeSnapshotContents of a cluster name.
func ReadLiving(ctx context.Context, kube kubernetes.Interface, objects dynamic.Interface) (*LivingCluster, error) {
	ctx, cancel := context.WithTimeout(ctx, CallLimit)
	defer cancel()
	infrastructure, err := objects.Resource(infrastructures).Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading Infrastructure cluster, which has the infra ID: %w", err)
	}
	said, _, _ := unstructured.NestedString(infrastructure.Object, "status", "infrastructureName")
	c := &LivingCluster{Ours: NewLiving(), Others: NewLiving(), Shown: NewLiving(), Retained: NewLiving()}
	if c.InfraID, err = infraid.Read(ctx, kube, said); err != nil {
		return nil, err
	}
	if c.InfraID == "" {
		return nil, fmt.Errorf("reading Infrastructure cluster: it has no infrastructureName")
	}
	err = proof.EachPage(ctx, proof.Volumes, func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error) {
		volumes, err := kube.CoreV1().PersistentVolumes().List(ctx, o)
		if err != nil {
			return nil, err
		}
		for i := range volumes.Items {
			c.addVolume(&volumes.Items[i])
		}
		return volumes, nil
	})
	if err != nil {
		return nil, err
	}
	for _, d := range driver.All {
		if err := c.addNamespaces(ctx, kube, d); err != nil {
			return nil, err
		}
	}
	return c, c.addSnapshots(ctx, objects)
}

func (c *LivingCluster) addNamespaces(ctx context.Context, kube kubernetes.Interface, d driver.Driver) error {
	secret, err := kube.CoreV1().Secrets(driver.Namespace).Get(ctx, d.ConfigSecret(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil // The driver does not run.
	}
	if err != nil {
		return fmt.Errorf("reading Secret %s, which has config.json: %w", d.ConfigSecret(), err)
	}
	entries, err := ceph.ParseConfig(secret.Data[monitors.ConfigKey])
	for _, e := range entries {
		if e.JournalNamespace != "" {
			c.JournalNamespaces = append(c.JournalNamespaces, e.JournalNamespace)
		}
	}
	return err
}

func (c *LivingCluster) addVolume(v *corev1.PersistentVolume) {
	var names []string
	if csi := v.Spec.CSI; csi != nil {
		n := naming{
			object: "PersistentVolume " + v.Name, driver: csi.Driver, handle: csi.VolumeHandle, retained: v.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRetain,
			names: []string{csi.VolumeAttributes["imageName"], csi.VolumeAttributes["subvolumeName"]},
			shown: []string{csi.VolumeAttributes["backingSnapshotID"]},
		}
		for _, path := range []string{csi.VolumeAttributes["rootPath"], csi.VolumeAttributes["subvolumePath"]} {
			n.shown = append(n.shown, strings.Split(path, "/")...)
		}
		c.add(n)
		return
	}
	for _, d := range driver.All {
		legacy, found := d.Storage.Legacy(v.Spec)
		if !found {
			continue
		}
		switch {
		case v.Spec.RBD != nil:
			names = append(names, v.Spec.RBD.RBDImage)
		case v.Spec.CephFS != nil:
			names = append(names, strings.Split(v.Spec.CephFS.Path, "/")...)
		default:
			options := v.Spec.FlexVolume.Options
			names = append(strings.Split(options["path"], "/"), options["image"])
		}
		c.Others.Add(c.whose("PersistentVolume "+v.Name, legacy.Plugin), "", names...)
	}
}

func (c *LivingCluster) addSnapshots(ctx context.Context, objects dynamic.Interface) error {
	err := proof.EachPage(ctx, proof.Snapshots, func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error) {
		contents, err := objects.Resource(ctrl.SnapshotContents).List(ctx, o)
		if err != nil {
			return nil, err
		}
		for _, s := range contents.Items {
			name, _, _ := unstructured.NestedString(s.Object, "spec", "driver")
			policy, _, _ := unstructured.NestedString(s.Object, "spec", "deletionPolicy")
			for _, path := range [][]string{{"spec", "source", "snapshotHandle"}, {"status", "snapshotHandle"}} {
				handle, _, _ := unstructured.NestedString(s.Object, path...)
				c.add(naming{object: "VolumeSnapshotContent " + s.GetName(), driver: name, handle: handle, retained: policy == "Retain"})
			}
		}
		return contents, nil
	})
	if apierrors.IsNotFound(err) {
		return nil // The cluster has no snapshots at all.
	}
	return err
}

// naming is what an object names that a CSI driver serves.
type naming struct {
	object, driver, handle string
	names, shown           []string
	retained               bool
}

// add notes what an object names. ceph-csi can be told any name; its handles show what it made. Other names mean
// something where the driver is known alone.
func (c *LivingCluster) add(n naming) {
	_, err := ceph.ParseVolumeHandle(n.handle)
	_, ours := driver.Named(n.driver)
	whose := n.object + " of cluster " + c.InfraID
	switch {
	case ours:
		c.Ours.Add(whose, n.handle, n.names...)
		c.Shown.Add(whose, "", n.shown...)
		if n.retained {
			c.Retained.Add(whose, n.handle, n.names...)
		}
	case driver.OfCeph(n.driver) || err == nil:
		c.Others.Add(c.whose(n.object, n.driver), n.handle, append(n.names, n.shown...)...)
	}
}

func (c *LivingCluster) whose(object, served string) string {
	return fmt.Sprintf("%s of %s in cluster %s", object, served, c.InfraID)
}
