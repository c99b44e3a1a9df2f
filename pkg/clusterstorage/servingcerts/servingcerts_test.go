package servingcerts

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"github.com/openshift/library-go/pkg/crypto"
	"github.com/openshift/library-go/pkg/operator/certrotation"
	"github.com/openshift/library-go/pkg/operator/events"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/cert"
	"k8s.io/utils/clock"
)

const (
	namespace = "here"
	wanted    = "metrics-cert"
)

func service() *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: "metrics", UID: "1", Annotations: map[string]string{SecretAnnotation: wanted},
	}}
}

// rig has a keeper whose informers know what is there when look is called.
type rig struct {
	*testing.T
	client *fake.Clientset
}

func (r rig) keeper() Keeper {
	r.Helper()
	labelled := func(o *metav1.ListOptions) { o.LabelSelector = Label }
	known := informers.NewSharedInformerFactoryWithOptions(r.client, 0, informers.WithNamespace(namespace), informers.WithTweakListOptions(labelled))
	secrets, configMaps := known.Core().V1().Secrets(), known.Core().V1().ConfigMaps()
	has := []cache.InformerSynced{secrets.Informer().HasSynced, configMaps.Informer().HasSynced}
	known.Start(r.Context().Done())
	if !cache.WaitForCacheSync(r.Context().Done(), has...) {
		r.Fatal("the informers did not sync")
	}
	return Keeper{
		Namespace: namespace, Signer: "signer", Bundle: "bundle", Client: r.client, Secrets: secrets, ConfigMaps: configMaps,
		Recorder: events.NewInMemoryRecorder("test", clock.RealClock{}),
	}
}

// sync begins with fresh informers, again after a conflict, and expects no other error.
func (r rig) sync() {
	r.Helper()
	for range 5 {
		err := r.keeper().Sync(r.Context(), []*corev1.Service{service()})
		if err == nil {
			return
		}
		if !apierrors.IsConflict(err) {
			r.Fatal(err)
		}
	}
	r.Fatal("conflicts go on")
}

func (r rig) secret(name string) *corev1.Secret {
	r.Helper()
	out, err := r.client.CoreV1().Secrets(namespace).Get(r.Context(), name, metav1.GetOptions{})
	if err != nil {
		r.Fatal(err)
	}
	return out
}

func (r rig) change(name string, change func(*corev1.Secret)) {
	r.Helper()
	secret := r.secret(name)
	change(secret)
	if _, err := r.client.CoreV1().Secrets(namespace).Update(r.Context(), secret, metav1.UpdateOptions{}); err != nil {
		r.Fatal(err)
	}
}

// verify checks the certificate as clients do, and returns it.
func (r rig) verify() string {
	r.Helper()
	bundle, err := r.client.CoreV1().ConfigMaps(namespace).Get(r.Context(), "bundle", metav1.GetOptions{})
	if err != nil {
		r.Fatal(err)
	}
	trusted, err := cert.ParseCertsPEM([]byte(bundle.Data["ca-bundle.crt"]))
	if err != nil {
		r.Fatal(err)
	}
	secret := r.secret(wanted)
	if why := broken(secret, trusted, []string{"metrics.here.svc", "metrics.here.svc.cluster.local"}); why != "" {
		r.Errorf("a client would not take it: %s", why)
	}
	return string(secret.Data[corev1.TLSCertKey])
}

func (r rig) writes() int {
	n := 0
	for _, a := range r.client.Actions() {
		if a.GetVerb() == "create" || a.GetVerb() == "update" {
			n++
		}
	}
	return n
}

func TestSyncKeepsCertificates(t *testing.T) {
	due := func(s *corev1.Secret) {
		s.Annotations[certrotation.CertificateNotAfterAnnotation] = time.Now().Add(-time.Hour).Format(time.RFC3339)
	}
	tests := map[string]struct {
		reason string
		spoil  func(r rig)
		// stays: the certificate does.
		stays bool
		// writes of the next sync.
		writes int
	}{
		"Good":    {"a second sync writes nothing", func(rig) {}, true, 0},
		"Due":     {"before it runs out", func(r rig) { r.change(wanted, due) }, false, 1},
		"Damaged": {"the notes beside it say nothing of that", func(r rig) { r.change(wanted, func(s *corev1.Secret) { s.Data[corev1.TLSPrivateKeyKey] = nil }) }, false, 1},
		"OtherHost": {"a Service of that name elsewhere", func(r rig) {
			r.change(wanted, func(s *corev1.Secret) { s.Annotations[certrotation.CertificateHostnames] = "x" })
		}, false, 1},
		"SignerDue":     {"clients trust both signers, and certificates live on", func(r rig) { r.change("signer", due) }, true, 2},
		"SignerDeleted": {"as if it was due", func(r rig) { r.delete(r.client.CoreV1().Secrets(namespace).Delete, "signer") }, true, 2},
		"Deleted":       {"it comes back", func(r rig) { r.delete(r.client.CoreV1().Secrets(namespace).Delete, wanted) }, false, 1},
		"BundleDeleted": {"the signer is still known", func(r rig) { r.delete(r.client.CoreV1().ConfigMaps(namespace).Delete, "bundle") }, true, 1},
		"SignerDamaged": {"a CA whose key is lost signs no more", func(r rig) {
			r.change("signer", func(s *corev1.Secret) { s.Data[corev1.TLSPrivateKeyKey] = []byte("?") })
		}, true, 3},
		"SignerEmptied": {"a CA that is lost signs no more", func(r rig) { r.change("signer", func(s *corev1.Secret) { s.Data = nil }) }, true, 3},
		"SignerNoCA": {"nobody could verify what it signs, and each sync would sign again", func(r rig) {
			leaf := r.secret(wanted).Data
			r.change("signer", func(s *corev1.Secret) { s.Data = leaf })
			r.delete(r.client.CoreV1().Secrets(namespace).Delete, wanted)
		}, false, 4},
		"BundleDamaged": {"nobody can verify by it", func(r rig) { r.spoilBundle("?") }, true, 2},
		"BundleEmptied": {"the signer goes in again", func(r rig) { r.spoilBundle("") }, true, 1},
		"AllButOneGone": {"nobody could verify it any more", func(r rig) {
			r.delete(r.client.CoreV1().Secrets(namespace).Delete, "signer")
			r.delete(r.client.CoreV1().ConfigMaps(namespace).Delete, "bundle")
		}, false, 3},
	}
	// RSA keys take their time: all begin with the same.
	first := rig{t, fake.NewClientset()}
	first.sync()
	bundle, err := first.client.CoreV1().ConfigMaps(namespace).Get(t.Context(), "bundle", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := rig{t, fake.NewClientset(first.secret("signer").DeepCopy(), first.secret(wanted).DeepCopy(), bundle.DeepCopy())}
			before := r.verify()
			tc.spoil(r)
			writes := r.writes()
			r.sync()
			if stayed := r.verify() == before; stayed != tc.stays {
				t.Errorf("%s: the certificate stayed: %v", tc.reason, stayed)
			}
			if n := r.writes() - writes; n != tc.writes {
				t.Errorf("%s: %d writes, want %d", tc.reason, n, tc.writes)
			}
			writes = r.writes()
			r.sync()
			if r.writes() != writes {
				t.Errorf("%s: writes go on", tc.reason)
			}
		})
	}
}

// TestSyncMakesKeysSoon: an install waits for several, one after the other.
func TestSyncMakesKeysSoon(t *testing.T) {
	r := rig{t, fake.NewClientset()}
	r.sync()
	for _, name := range []string{"signer", wanted} {
		pair, err := tls.X509KeyPair(r.secret(name).Data[corev1.TLSCertKey], r.secret(name).Data[corev1.TLSPrivateKeyKey])
		if err != nil {
			t.Fatal(err)
		}
		if got := pair.Leaf.PublicKeyAlgorithm; got != x509.ECDSA {
			t.Errorf("%s has a key of type %s", name, got)
		}
	}
}

// TestSyncSignsWithKeysOfBefore: a CA stays for years, whatever keys are made now.
func TestSyncSignsWithKeysOfBefore(t *testing.T) {
	r := rig{t, fake.NewClientset()}
	r.sync()
	ca, err := crypto.MakeSelfSignedCAConfigForDuration("here_signer@1", signerValidity)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key, err := ca.GetPEMBytes()
	if err != nil {
		t.Fatal(err)
	}
	r.change("signer", func(s *corev1.Secret) {
		s.Data = map[string][]byte{corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key}
	})
	r.delete(r.client.CoreV1().Secrets(namespace).Delete, wanted)
	r.sync()
	r.verify()
	pair, err := tls.X509KeyPair(r.secret(wanted).Data[corev1.TLSCertKey], r.secret(wanted).Data[corev1.TLSPrivateKeyKey])
	if err != nil {
		t.Fatal(err)
	}
	if got := pair.Leaf; got.PublicKeyAlgorithm != x509.ECDSA || got.SignatureAlgorithm != x509.SHA256WithRSA {
		t.Errorf("a key of type %s, signed by %s", got.PublicKeyAlgorithm, got.SignatureAlgorithm)
	}
}

func (r rig) delete(remove func(context.Context, string, metav1.DeleteOptions) error, name string) {
	r.Helper()
	if err := remove(r.Context(), name, metav1.DeleteOptions{}); err != nil {
		r.Fatal(err)
	}
}

func (r rig) spoilBundle(text string) {
	r.Helper()
	bundle, err := r.client.CoreV1().ConfigMaps(namespace).Get(r.Context(), "bundle", metav1.GetOptions{})
	if err != nil {
		r.Fatal(err)
	}
	bundle.Data["ca-bundle.crt"] = text
	if _, err := r.client.CoreV1().ConfigMaps(namespace).Update(r.Context(), bundle, metav1.UpdateOptions{}); err != nil {
		r.Fatal(err)
	}
}

func TestSyncLeavesOthersAlone(t *testing.T) {
	foreign := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: wanted}, Data: map[string][]byte{"tls.crt": []byte("theirs")}}
	r := rig{t, fake.NewClientset(foreign)}
	err := r.keeper().Sync(t.Context(), []*corev1.Service{service()})
	if err == nil || !strings.Contains(err.Error(), "the Secret metrics-cert is somebody else's") {
		t.Errorf("error %v", err)
	}
	if string(r.secret(wanted).Data["tls.crt"]) != "theirs" {
		t.Error("it was overwritten")
	}
}

// TestSyncTellsOfAForeignBundle: informers never know of it, so to wait for them is no use.
func TestSyncTellsOfAForeignBundle(t *testing.T) {
	r := rig{t, fake.NewClientset(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "bundle"}})}
	err := r.keeper().Sync(t.Context(), []*corev1.Service{service()})
	if err == nil || !strings.Contains(err.Error(), "the ConfigMap bundle is somebody else's") {
		t.Errorf("error %v", err)
	}
}

// TestSyncBehind: what informers do not know yet is neither made anew, nor is it an event.
func TestSyncBehind(t *testing.T) {
	client := fake.NewClientset()
	known := informers.NewSharedInformerFactory(client, 0).Core().V1()
	recorder := events.NewInMemoryRecorder("test", clock.RealClock{})
	keeper := Keeper{
		Namespace: namespace, Signer: "signer", Bundle: "bundle", Client: client,
		Secrets: known.Secrets(), ConfigMaps: known.ConfigMaps(), Recorder: recorder,
	}
	r := rig{t, client}
	for range 3 {
		if err := keeper.Sync(t.Context(), []*corev1.Service{service()}); err != nil {
			t.Error(err)
		}
	}
	r.verify()
	if n := r.writes(); n != 3 {
		t.Errorf("%d writes, want signer, bundle and certificate", n)
	}
	for _, event := range recorder.Events() {
		if event.Type == corev1.EventTypeWarning {
			t.Errorf("event %s: %s", event.Reason, event.Message)
		}
	}
}

func TestSyncWithoutAnnotation(t *testing.T) {
	r := rig{t, fake.NewClientset()}
	plain, going := service(), service()
	plain.Annotations = nil
	going.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	if err := r.keeper().Sync(t.Context(), []*corev1.Service{plain, going}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.client.CoreV1().Secrets(namespace).Get(t.Context(), wanted, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a Secret that nobody asked for: %v", err)
	}
}
