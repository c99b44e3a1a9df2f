package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
)

// heal asks the API server what ceph-csi's healer does at every start of the node plugin. It maps nothing again:
// its devices are not those of rbd-nbd everywhere.
func heal(o options) {
	ctx, cancel := context.WithTimeout(context.Background(), apiTimeout)
	defer cancel()
	client, err := apiServer()
	if err != nil {
		klog.Errorf("healer had failures, err %v", err)
		return
	}
	attachments, err := client.StorageV1().VolumeAttachments().List(ctx, metav1.ListOptions{})
	if err != nil {
		klog.Errorf("list volumeAttachments failed, err: %v", err)
		return
	}
	for _, a := range attachments.Items {
		if a.Spec.NodeName != o.NodeID || a.Spec.Attacher != o.DriverName || a.Spec.Source.PersistentVolumeName == nil {
			continue
		}
		if err := healVolume(ctx, client, a.Name, *a.Spec.Source.PersistentVolumeName); err != nil {
			klog.Errorf("callNodeStageVolume failed, err: %v", err)
		}
	}
}

func healVolume(ctx context.Context, client kubernetes.Interface, attachment, name string) error {
	volume, err := client.CoreV1().PersistentVolumes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	source := volume.Spec.CSI
	if volume.Status.Phase != corev1.VolumeBound || volume.DeletionTimestamp != nil || source == nil || source.VolumeAttributes["mounter"] != "rbd-nbd" {
		return nil
	}
	now, err := client.StorageV1().VolumeAttachments().Get(ctx, attachment, metav1.GetOptions{})
	if err != nil || !now.Status.Attached {
		return err
	}
	klog.Infof("sending nodeStageVolume for volID: %s", source.VolumeHandle)
	secret := source.NodeStageSecretRef
	if _, err := client.CoreV1().Secrets(secret.Namespace).Get(ctx, secret.Name, metav1.GetOptions{}); err != nil {
		return fmt.Errorf("failed to get Secret %s/%s: %w", secret.Namespace, secret.Name, err)
	}
	return nil
}
