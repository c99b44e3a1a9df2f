package driver

import corev1 "k8s.io/api/core/v1"

// Annotations of PersistentVolumes, by which external-provisioner knows the Secret to delete a volume with:
// https://github.com/kubernetes-csi/external-provisioner
const (
	deletionSecretName      = "volume.kubernetes.io/provisioner-deletion-secret-name"
	deletionSecretNamespace = "volume.kubernetes.io/provisioner-deletion-secret-namespace"
)

// DeletionSecret is the Secret that a volume is deleted with; nil where it names none.
func DeletionSecret(pv *corev1.PersistentVolume) *corev1.SecretReference {
	name, namespace := pv.Annotations[deletionSecretName], pv.Annotations[deletionSecretNamespace]
	if name == "" || namespace == "" {
		return nil
	}
	return &corev1.SecretReference{Name: name, Namespace: namespace}
}

// SetDeletionSecret has a volume name that Secret, and no other annotation.
func SetDeletionSecret(pv *corev1.PersistentVolume, secret *corev1.SecretReference) {
	pv.Annotations = map[string]string{deletionSecretName: secret.Name, deletionSecretNamespace: secret.Namespace}
}
