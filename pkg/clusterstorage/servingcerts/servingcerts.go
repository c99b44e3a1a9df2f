// Package servingcerts makes and rotates the serving certificates of Services, as OpenShift's
// service CA does, on clusters that have none.
package servingcerts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/openshift/library-go/pkg/operator/certrotation"
	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/pki"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// SecretAnnotation of a Service names the Secret that its certificate is wanted in.
const SecretAnnotation = "service.beta.openshift.io/serving-cert-secret-name"

// Label is on all Secrets and ConfigMaps that this package writes; informers may go by it.
const Label = certrotation.ManagedCertificateTypeLabelName

// How long certificates are valid, and when they are replaced. Whoever trusts the bundle knows a
// new signer long before certificates of the old one go: the bundle keeps both.
const (
	signerValidity = 3 * 365 * 24 * time.Hour
	signerRefresh  = 2 * 365 * 24 * time.Hour
	validity       = 365 * 24 * time.Hour
	refresh        = 240 * 24 * time.Hour
)

// keys are those of OpenShift's default, elliptic curves: an RSA key takes a busy node seconds, and
// no pod that serves starts before it has one.
var keys = pki.NewStaticPKIProfileProvider(ptr.To(pki.DefaultPKIProfile()))

// Keeper keeps the certificates of Services of one namespace. All members are required.
type Keeper struct {
	Namespace string
	// Signer is the Secret with the CA, Bundle the ConfigMap by which clients verify.
	Signer, Bundle string
	Client         kubernetes.Interface
	// Secrets and ConfigMaps need to know those with Label only.
	Secrets    coreinformers.SecretInformer
	ConfigMaps coreinformers.ConfigMapInformer
	Recorder   events.Recorder
}

// Sync makes what is missing, replaces what is due, and leaves Secrets of somebody else alone,
// which is an error. A conflict says that the informers are behind: sync again.
func (k Keeper) Sync(ctx context.Context, services []*corev1.Service) error {
	if err := k.giveUpUnusable(ctx); err != nil {
		return err
	}
	ca, _, err := k.signer(ctx).EnsureSigningCertKeyPair(ctx)
	if err != nil {
		return k.explain(k.Signer, err)
	}
	if ca == nil {
		return k.behind("secrets", k.Signer)
	}
	bundle := certrotation.CABundleConfigMap{
		Namespace: k.Namespace, Name: k.Bundle,
		AdditionalAnnotations: describing("Certificates of the CA that signs serving certificates of this namespace"),
		Informer:              k.ConfigMaps, Lister: k.configMaps(ctx), Client: k.Client.CoreV1(), EventRecorder: k.Recorder,
	}
	trusted, err := bundle.EnsureConfigMapCABundle(ctx, ca, k.Namespace+"/"+k.Signer)
	var theirs foreign
	switch {
	case errors.As(err, &theirs):
		return theirs
	case apierrors.IsAlreadyExists(err), err == nil && trusted == nil:
		return k.behind("configmaps", k.Bundle)
	case err != nil:
		return fmt.Errorf("keeping the CA bundle in ConfigMap %s: %w", k.Bundle, err)
	}
	var errs []error
	for _, service := range services {
		name := service.Annotations[SecretAnnotation]
		if name == "" || service.DeletionTimestamp != nil {
			continue
		}
		secret, err := k.target(ctx, service, name).EnsureTargetCertKeyPair(ctx, ca, trusted)
		switch {
		case err != nil:
			errs = append(errs, k.explain(name, err))
		case secret == nil:
			errs = append(errs, k.behind("secrets", name))
		}
	}
	return errors.Join(errs...)
}

func (k Keeper) signer(ctx context.Context) certrotation.RotatedSigningCASecret {
	return certrotation.RotatedSigningCASecret{
		Namespace: k.Namespace, Name: k.Signer, Validity: signerValidity, Refresh: signerRefresh, PKIProfileProvider: keys,
		AdditionalAnnotations: describing("CA that signs serving certificates of this namespace"),
		Informer:              k.Secrets, Lister: k.secrets(ctx), Client: k.Client.CoreV1(), EventRecorder: k.Recorder,
	}
}

func (k Keeper) target(ctx context.Context, service *corev1.Service, name string) certrotation.RotatedSelfSignedCertKeySecret {
	host := service.Name + "." + service.Namespace + ".svc"
	hosts := []string{host, host + ".cluster.local"}
	return certrotation.RotatedSelfSignedCertKeySecret{
		Namespace: k.Namespace, Name: name, Validity: validity, Refresh: refresh, PKIProfileProvider: keys,
		// With its Service, the Secret goes.
		Owner:                 &metav1.OwnerReference{APIVersion: "v1", Kind: "Service", Name: service.Name, UID: service.UID},
		AdditionalAnnotations: describing("Serving certificate of Service " + service.Name),
		CertCreator:           usable{&certrotation.ServingRotation{Hostnames: func() []string { return hosts }}},
		Informer:              k.Secrets, Lister: k.secrets(ctx), Client: k.Client.CoreV1(), EventRecorder: k.Recorder,
	}
}

func describing(text string) certrotation.AdditionalAnnotations {
	return certrotation.AdditionalAnnotations{Description: text}
}

// explain says what to do about an error, unless somebody else made the Secret meanwhile.
func (k Keeper) explain(name string, err error) error {
	var theirs foreign
	switch {
	case errors.As(err, &theirs):
		return theirs
	case apierrors.IsAlreadyExists(err):
		return k.behind("secrets", name)
	}
	return fmt.Errorf("keeping the certificate in Secret %s: %w; if that lasts, delete the Secret, and a new one is made", name, err)
}

func (k Keeper) behind(resource, name string) error {
	return apierrors.NewConflict(corev1.Resource(resource), name, errors.New("it was written since it was read"))
}
