package operator

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestPrerequisites(t *testing.T) {
	volume := func(source corev1.VolumeSource) corev1.Volume { return corev1.Volume{VolumeSource: source} }
	pod := corev1.PodSpec{
		ServiceAccountName: "driver-sa",
		Volumes: []corev1.Volume{
			volume(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "config"}}),
			volume(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "optional", Optional: ptr.To(true)}}),
			volume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}),
			volume(corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}),
			volume(corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "projected"}}},
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "kms"}, Optional: ptr.To(true)}},
			}}}),
		},
	}
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	in := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: driver.Namespace, Name: name, CreationTimestamp: metav1.NewTime(now.Add(-time.Second))}
	}
	bundle := &corev1.ConfigMap{ObjectMeta: in("trusted-ca"), Data: map[string]string{caBundleKey: "PEM"}}
	young := &corev1.ConfigMap{ObjectMeta: in("trusted-ca")}
	old := young.DeepCopy()
	old.CreationTimestamp = metav1.NewTime(now.Add(-injectionTime))
	ahead := young.DeepCopy()
	ahead.CreationTimestamp = metav1.NewTime(now.Add(time.Hour))
	all := []runtime.Object{
		&corev1.ServiceAccount{ObjectMeta: in("driver-sa")}, &corev1.Secret{ObjectMeta: in("config")},
		&corev1.Secret{ObjectMeta: in("projected")}, &corev1.ConfigMap{ObjectMeta: in("settings")},
	}
	tests := map[string]struct {
		reason string
		exist  []runtime.Object
		plain  bool
		want   []string
	}{
		"Nothing": {
			reason: "each is named, sorted, the optional ones are not",
			want:   []string{"ConfigMap settings", "ConfigMap trusted-ca", "Secret config", "Secret projected", "ServiceAccount driver-sa"},
		},
		"Some": {
			reason: "only what is away is named",
			exist:  []runtime.Object{&corev1.ServiceAccount{ObjectMeta: in("driver-sa")}, &corev1.Secret{ObjectMeta: in("config")}, bundle},
			want:   []string{"ConfigMap settings", "Secret projected"},
		},
		"All":            {reason: "pods can start", exist: append(all[:4:4], bundle)},
		"NotInjectedYet": {reason: "pods would be rolled out again a moment later", exist: append(all[:4:4], young), want: []string{"CA bundle in ConfigMap trusted-ca"}},
		"NoInjector":     {reason: "a cluster without OpenShift need not wait", exist: append(all[:4:4], young), plain: true},
		"NeverInjected":  {reason: "clusters without an injector must not wait for ever", exist: append(all[:4:4], old)},
		"ClockBehind":    {reason: "nobody knows for how long, where the API server's clock is hours ahead", exist: append(all[:4:4], ahead)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			listers := listersOf(t, now, tc.exist)
			listers.openshift = func() bool { return !tc.plain }
			got, err := listers.missing(prerequisitesOf(pod))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func listersOf(t *testing.T, now time.Time, objects []runtime.Object) podListers {
	t.Helper()
	indexers := map[string]cache.Indexer{}
	for _, kind := range []string{"ServiceAccount", "Secret", "ConfigMap"} {
		indexers[kind] = cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	}
	for _, o := range objects {
		kind := map[bool]string{true: "ServiceAccount"}[is[*corev1.ServiceAccount](o)]
		if is[*corev1.Secret](o) {
			kind = "Secret"
		}
		if is[*corev1.ConfigMap](o) {
			kind = "ConfigMap"
		}
		if err := indexers[kind].Add(o); err != nil {
			t.Fatal(err)
		}
	}
	return podListers{
		serviceAccounts: corelisters.NewServiceAccountLister(indexers["ServiceAccount"]).ServiceAccounts(driver.Namespace),
		secrets:         corelisters.NewSecretLister(indexers["Secret"]).Secrets(driver.Namespace),
		configMaps:      corelisters.NewConfigMapLister(indexers["ConfigMap"]).ConfigMaps(driver.Namespace),
		trustedCA:       "trusted-ca",
		clock:           clocktesting.NewFakePassiveClock(now),
	}
}

func is[T any](o any) bool {
	_, ok := o.(T)
	return ok
}
