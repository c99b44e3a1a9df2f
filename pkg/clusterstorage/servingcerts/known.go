package servingcerts

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
)

// Informers lag behind what was just written, and know nothing of other owners' objects. Who asks
// the API server before it makes one takes neither for missing.
type (
	knownSecrets struct {
		corelisters.SecretNamespaceLister
		ctx context.Context
		k   Keeper
	}
	knownConfigMaps struct {
		corelisters.ConfigMapNamespaceLister
		ctx context.Context
		k   Keeper
	}
	secretLister struct {
		corelisters.SecretLister
		known knownSecrets
	}
	configMapLister struct {
		corelisters.ConfigMapLister
		known knownConfigMaps
	}
)

func (k Keeper) secrets(ctx context.Context) corelisters.SecretLister {
	all := k.Secrets.Lister()
	return secretLister{all, knownSecrets{all.Secrets(k.Namespace), ctx, k}}
}

func (k Keeper) configMaps(ctx context.Context) corelisters.ConfigMapLister {
	all := k.ConfigMaps.Lister()
	return configMapLister{all, knownConfigMaps{all.ConfigMaps(k.Namespace), ctx, k}}
}

// Secrets implements corelisters.SecretLister for the only namespace that is asked for.
func (l secretLister) Secrets(string) corelisters.SecretNamespaceLister { return l.known }

// ConfigMaps implements corelisters.ConfigMapLister for the only namespace that is asked for.
func (l configMapLister) ConfigMaps(string) corelisters.ConfigMapNamespaceLister { return l.known }

// Get implements corelisters.SecretNamespaceLister. A Secret of somebody else is an error.
func (l knownSecrets) Get(name string) (*corev1.Secret, error) {
	known, err := l.SecretNamespaceLister.Get(name)
	if !apierrors.IsNotFound(err) {
		return known, err
	}
	live, err := l.k.Client.CoreV1().Secrets(l.k.Namespace).Get(l.ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	if live.Labels[Label] == "" {
		return nil, foreign{fmt.Sprintf("the Secret %s is somebody else's and stays as it is: delete it, and one with a certificate is made", name)}
	}
	return live, nil
}

// Get implements corelisters.ConfigMapNamespaceLister. A ConfigMap of somebody else is an error.
func (l knownConfigMaps) Get(name string) (*corev1.ConfigMap, error) {
	known, err := l.ConfigMapNamespaceLister.Get(name)
	if !apierrors.IsNotFound(err) {
		return known, err
	}
	live, err := l.k.Client.CoreV1().ConfigMaps(l.k.Namespace).Get(l.ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	if live.Labels[Label] == "" {
		return nil, foreign{fmt.Sprintf("the ConfigMap %s is somebody else's and stays as it is: delete it, and one with the CA bundle is made", name)}
	}
	return live, nil
}

// foreign says that an object is somebody else's.
type foreign struct{ message string }

func (f foreign) Error() string { return f.message }
