package standins

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"
)

const (
	// secretNameAnnotation on a Service names the Secret that its certificate goes to.
	secretNameAnnotation = "service.beta.openshift.io/serving-cert-secret-name"
	// serviceAnnotation on a Secret names the Service that it was made for.
	serviceAnnotation = "service.beta.openshift.io/originating-service-name"
)

// servingCertificates makes the Secret of each annotated Service, and makes it again when it is
// deleted: with a new certificate, as rotation does.
func (s *StandIns) servingCertificates() *loop {
	l := newLoop("serving certificate", s.ensureCertificate)
	l.watch(coreinformers.NewServiceInformer(s.client, metav1.NamespaceAll, 0, nil), func(object any) string {
		service, ok := object.(*corev1.Service)
		if !ok || service.Annotations[secretNameAnnotation] == "" {
			return ""
		}
		return cache.NewObjectName(service.Namespace, service.Name).String()
	})
	onlyTLS := func(o *metav1.ListOptions) { o.FieldSelector = "type=" + string(corev1.SecretTypeTLS) }
	l.watch(coreinformers.NewFilteredSecretInformer(s.client, metav1.NamespaceAll, 0, nil, onlyTLS), func(object any) string {
		secret, ok := object.(*corev1.Secret)
		if !ok || secret.Annotations[serviceAnnotation] == "" {
			return ""
		}
		return cache.NewObjectName(secret.Namespace, secret.Annotations[serviceAnnotation]).String()
	})
	return l
}

func (s *StandIns) ensureCertificate(ctx context.Context, key string) error {
	name, err := cache.ParseObjectName(key)
	if err != nil {
		return err
	}
	service, err := s.client.CoreV1().Services(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	secretName := service.Annotations[secretNameAnnotation]
	if secretName == "" {
		return nil
	}
	secrets := s.client.CoreV1().Secrets(name.Namespace)
	if _, err := secrets.Get(ctx, secretName, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return err
	}
	host := name.Name + "." + name.Namespace + ".svc"
	pair, err := s.authority.Server(host, host+".cluster.local")
	if err != nil {
		return err
	}
	_, err = secrets.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name:            secretName,
			Annotations:     map[string]string{serviceAnnotation: name.Name},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Service", Name: service.Name, UID: service.UID}},
		},
		Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{corev1.TLSCertKey: pair.Certificate, corev1.TLSPrivateKeyKey: pair.Key},
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
