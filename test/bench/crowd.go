package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const (
	crowdVolumes = 20000
	crowdNodes   = 1000
	crowdClasses = 500
	nodeImages   = 50

	// creators work at the same time.
	creators = 32
)

// fill creates what a large cluster has, once. Volumes that are there already count.
func (b *bench) fill(ctx context.Context) error {
	if b.crowd {
		return nil
	}
	config := b.cluster.AdminConfig()
	config.ContentType = runtime.ContentTypeProtobuf
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	held, err := client.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return fmt.Errorf("listing PersistentVolumes: %w", err)
	}
	kinds := []struct {
		what   string
		number int
		create func(i int) error
	}{
		{"StorageClasses", crowdClasses, func(i int) error {
			_, err := client.StorageV1().StorageClasses().Create(ctx, crowdClass(i), metav1.CreateOptions{})
			return err
		}},
		{"Nodes", crowdNodes, func(i int) error {
			_, err := client.CoreV1().Nodes().Create(ctx, crowdNode(i), metav1.CreateOptions{})
			return err
		}},
		{"PersistentVolumes", max(0, crowdVolumes-len(held.Items)), func(i int) error {
			_, err := client.CoreV1().PersistentVolumes().Create(ctx, crowdVolume(i), metav1.CreateOptions{})
			return err
		}},
	}
	for _, k := range kinds {
		begin := time.Now()
		var group errgroup.Group
		group.SetLimit(creators)
		for i := range k.number {
			group.Go(func() error { return k.create(i) })
		}
		if err := group.Wait(); err != nil {
			return fmt.Errorf("creating %s: %w", k.what, err)
		}
		fmt.Fprintf(b.progress, "%d %s created in %.0f s\n", k.number, k.what, time.Since(begin).Seconds())
	}
	b.crowd = true
	return b.volumesAvailable(ctx, client)
}

// volumesAvailable waits until Kubernetes has nothing to do with the volumes any more.
func (b *bench) volumesAvailable(ctx context.Context, client kubernetes.Interface) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	for {
		// From the API server's cache.
		volumes, err := client.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return fmt.Errorf("listing PersistentVolumes: %w", err)
		}
		pending := 0
		for _, v := range volumes.Items {
			if v.Status.Phase != corev1.VolumeAvailable {
				pending++
			}
		}
		if pending == 0 {
			return nil
		}
		fmt.Fprintf(b.progress, "%d PersistentVolumes are not available yet\n", pending)
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d PersistentVolumes are not available: %w", pending, ctx.Err())
		case <-time.After(5 * time.Second):
		}
	}
}

// crowdDriver gives both drivers the same share.
func crowdDriver(i int) driver.Driver { return driver.All[i%len(driver.All)] }

func crowdClass(i int) *storagev1.StorageClass {
	d := crowdDriver(i)
	return &storagev1.StorageClass{
		ObjectMeta:  metav1.ObjectMeta{Name: fmt.Sprintf("crowd-%d", i)},
		Provisioner: d.Name,
		Parameters: map[string]string{
			"clusterID": "b9127830-b0cc-4e34-aa47-9d1a2e9949a8",
			"pool":      fmt.Sprintf("team-%d", i),
			"csi.storage.k8s.io/provisioner-secret-name":       d.ProvisionerSecret(),
			"csi.storage.k8s.io/provisioner-secret-namespace":  driver.Namespace,
			"csi.storage.k8s.io/controller-expand-secret-name": d.ProvisionerSecret(),
			"csi.storage.k8s.io/node-stage-secret-name":        d.NodeSecret(),
			"csi.storage.k8s.io/node-stage-secret-namespace":   driver.Namespace,
		},
		ReclaimPolicy: ptr.To(corev1.PersistentVolumeReclaimDelete),
	}
}

// crowdNode runs another operating system, so that no DaemonSet of the drivers wants it.
func crowdNode(i int) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:   fmt.Sprintf("crowd-%d", i),
		Labels: map[string]string{corev1.LabelOSStable: "windows", "node-role.kubernetes.io/worker": ""},
	}}
	node.Spec.Unschedulable = true
	for image := range nodeImages {
		node.Status.Images = append(node.Status.Images, corev1.ContainerImage{
			Names:     []string{fmt.Sprintf("registry.example.com/team/image-%d@sha256:%064d", image, i)},
			SizeBytes: 100 << 20,
		})
	}
	return node
}

func crowdVolume(i int) *corev1.PersistentVolume {
	d := crowdDriver(i)
	name := fmt.Sprintf("pvc-00000000-0000-4000-8000-%012d", i)
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Annotations: map[string]string{
				"pv.kubernetes.io/provisioned-by":                            d.Name,
				"volume.kubernetes.io/provisioner-deletion-secret-name":      d.ProvisionerSecret(),
				"volume.kubernetes.io/provisioner-deletion-secret-namespace": driver.Namespace,
			},
		},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")},
			AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			StorageClassName:              fmt.Sprintf("crowd-%d", i%crowdClasses),
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver:       d.Name,
				VolumeHandle: fmt.Sprintf("0001-0024-b9127830-b0cc-4e34-aa47-9d1a2e9949a8-0000000000000002-00000000-0000-4000-8000-%012d", i),
				VolumeAttributes: map[string]string{
					"clusterID":     "b9127830-b0cc-4e34-aa47-9d1a2e9949a8",
					"imageFeatures": "layering",
					"imageName":     fmt.Sprintf("csi-vol-00000000-0000-4000-8000-%012d", i),
					"journalPool":   "pool",
					"pool":          "pool",
					"storage.kubernetes.io/csiProvisionerIdentity": "1753876912345-1234-" + d.Name,
				},
				NodeStageSecretRef:        &corev1.SecretReference{Name: d.NodeSecret(), Namespace: driver.Namespace},
				ControllerExpandSecretRef: &corev1.SecretReference{Name: d.ProvisionerSecret(), Namespace: driver.Namespace},
			}},
		},
	}
}
