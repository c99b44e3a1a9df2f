package credentials

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/openshift/library-go/pkg/operator/resource/resourceapply"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// Keys of the Secrets, as ceph-csi reads them.
const (
	userIDKey  = "userID"
	userKeyKey = "userKey"
)

// otherUser are the keys of another user, with which ceph-csi would work.
var otherUser = []string{"adminID", "adminKey"}

// apply writes the Secrets that are not as wanted.
func (c *Controller) apply(ctx context.Context, wanted map[string]ceph.Credentials) error {
	existing := map[string]*corev1.Secret{}
	for name := range wanted {
		secret, err := c.Secrets.Lister().Secrets(driver.Namespace).Get(name)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading Secret %s/%s: %w", driver.Namespace, name, err)
		}
		existing[name] = secret
	}
	for _, secret := range decide(c.Driver, wanted, existing) {
		if _, _, err := resourceapply.ApplySecret(ctx, c.Kube.CoreV1(), c.Recorder, secret); err != nil {
			return fmt.Errorf("writing Secret %s/%s: %w", driver.Namespace, secret.Name, err)
		}
	}
	return nil
}

// decide returns the Secrets that are to be written, by name: those of wanted that existing
// lacks or has with another content, another user or without our mark. What else somebody put there stays,
// above all the encryptionPassphrase of classes without a KMS. A user without name or key is never written.
func decide(d driver.Driver, wanted map[string]ceph.Credentials, existing map[string]*corev1.Secret) []*corev1.Secret {
	var out []*corev1.Secret
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		user := wanted[name]
		if user.UserID == "" || user.Key.Reveal() == "" {
			continue
		}
		data := map[string][]byte{}
		is := existing[name]
		if is != nil {
			maps.Copy(data, is.Data)
		}
		for _, key := range otherUser {
			delete(data, key)
		}
		data[userIDKey], data[userKeyKey] = []byte(user.UserID), []byte(user.Key.Reveal())
		if is != nil && d.Owns(is) && maps.EqualFunc(is.Data, data, slices.Equal) {
			continue
		}
		out = append(out, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: driver.Namespace,
				Name:      name,
				Labels:    map[string]string{driver.ManagedByLabel: d.OperatorName()},
			},
			Data: data,
		})
	}
	return out
}
