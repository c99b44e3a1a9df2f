package operator

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/utils/clock"
)

// prerequisites are the objects that a pod needs to start.
type prerequisites struct {
	serviceAccount string
	secrets        []string
	configMaps     []string
}

// prerequisitesOf lists what pods of the template mount and is not optional.
func prerequisitesOf(pod corev1.PodSpec) prerequisites {
	out := prerequisites{serviceAccount: pod.ServiceAccountName}
	for _, v := range pod.Volumes {
		if s := v.Secret; s != nil && !isTrue(s.Optional) {
			out.secrets = append(out.secrets, s.SecretName)
		}
		if c := v.ConfigMap; c != nil && !isTrue(c.Optional) {
			out.configMaps = append(out.configMaps, c.Name)
		}
		if v.Projected == nil {
			continue
		}
		for _, source := range v.Projected.Sources {
			if s := source.Secret; s != nil && !isTrue(s.Optional) {
				out.secrets = append(out.secrets, s.Name)
			}
			if c := source.ConfigMap; c != nil && !isTrue(c.Optional) {
				out.configMaps = append(out.configMaps, c.Name)
			}
		}
	}
	return out
}

func isTrue(b *bool) bool { return b != nil && *b }

// injectionTime is how long the cluster network operator may take to write the CA bundle
// into a ConfigMap with its label. Clusters without that operator never do.
const injectionTime = 10 * time.Second

const caBundleKey = "ca-bundle.crt"

// podListers find prerequisites in the operator's namespace.
type podListers struct {
	serviceAccounts corelisters.ServiceAccountNamespaceLister
	secrets         corelisters.SecretNamespaceLister
	configMaps      corelisters.ConfigMapNamespaceLister
	// trustedCA is the ConfigMap into which the CA bundle is injected. Pods that start before
	// that would be rolled out a second time.
	trustedCA string
	// openshift says whether this is one; nobody injects elsewhere.
	openshift func() bool
	clock     clock.PassiveClock
}

// missing names, sorted, the prerequisites that do not exist yet.
func (l podListers) missing(p prerequisites) ([]string, error) {
	var out []string
	note := func(kind, name string, err error) error {
		if apierrors.IsNotFound(err) {
			out = append(out, kind+" "+name)
			return nil
		}
		return err
	}
	_, err := l.serviceAccounts.Get(p.serviceAccount)
	if err := note("ServiceAccount", p.serviceAccount, err); err != nil {
		return nil, fmt.Errorf("looking up ServiceAccount %s: %w", p.serviceAccount, err)
	}
	for _, name := range p.secrets {
		_, err := l.secrets.Get(name)
		if err := note("Secret", name, err); err != nil {
			return nil, fmt.Errorf("looking up Secret %s: %w", name, err)
		}
	}
	for _, name := range p.configMaps {
		_, err := l.configMaps.Get(name)
		if err := note("ConfigMap", name, err); err != nil {
			return nil, fmt.Errorf("looking up ConfigMap %s: %w", name, err)
		}
	}
	trustedCA, err := l.configMaps.Get(l.trustedCA)
	if err := note("ConfigMap", l.trustedCA, err); err != nil {
		return nil, fmt.Errorf("looking up ConfigMap %s: %w", l.trustedCA, err)
	}
	if err == nil && l.awaitsInjection(trustedCA) {
		out = append(out, "CA bundle in ConfigMap "+l.trustedCA)
	}
	slices.Sort(out)
	return out, nil
}

// awaitsInjection does not wait where the API server's clock is so far ahead that nobody knows for how long.
func (l podListers) awaitsInjection(trustedCA *corev1.ConfigMap) bool {
	age := l.clock.Since(trustedCA.CreationTimestamp.Time)
	return l.openshift() && trustedCA.Data[caBundleKey] == "" && age > -injectionTime && age < injectionTime
}
