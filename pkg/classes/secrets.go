package classes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openshift/library-go/pkg/controller/factory"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const (
	// reviewAgain is how long a review stands: no informer tells of rights in other namespaces.
	reviewAgain = time.Minute
	// reviewDeadline bounds all reviews of one sync.
	reviewDeadline = 10 * time.Second
	// parameterPrefix begins the parameters that sidecars and kubelets read, nodePrefix those of kubelets.
	parameterPrefix = "csi.storage.k8s.io/"
	nodePrefix      = parameterPrefix + "node-"
)

// secretUses are Secrets of other namespaces, with the classes and volumes that name them for the driver's controllers.
type secretUses map[types.NamespacedName][]string

// add has the Secrets that a class names, such as "StorageClass fast". Of which namespace they are must be known
// without a claim or snapshot; what the name is need not.
func (u secretUses) add(class string, parameters map[string]string) {
	for key, namespace := range parameters {
		use, isSecret := strings.CutSuffix(key, "secret-namespace")
		name := parameters[use+"secret-name"]
		ofController := strings.HasPrefix(key, parameterPrefix) && !strings.HasPrefix(key, nodePrefix)
		if !isSecret || !ofController || name == "" || namespace == "" || namespace == driver.Namespace || isTemplate(namespace) {
			continue
		}
		u.name(class, namespace, name)
	}
}

func (u secretUses) name(who, namespace, name string) {
	secret := types.NamespacedName{Namespace: namespace, Name: name}
	if !slices.Contains(u[secret], who) {
		u[secret] = append(u[secret], who)
	}
}

// addVolume has those that a volume of the driver names: its class may be gone, or have left the namespace open.
func (u secretUses) addVolume(pv *corev1.PersistentVolume) {
	for _, secret := range []*corev1.SecretReference{pv.Spec.CSI.ControllerPublishSecretRef, pv.Spec.CSI.ControllerExpandSecretRef, driver.DeletionSecret(pv)} {
		if secret != nil && secret.Namespace != driver.Namespace {
			u.name("PersistentVolume "+pv.Name, secret.Namespace, secret.Name)
		}
	}
}

func isTemplate(value string) bool { return strings.Contains(value, "${") }

// verdict is what a review has found.
type verdict struct {
	may bool
	at  time.Time
}

// access knows which Secrets of other namespaces the driver's controllers may read.
type access struct {
	ctrl.Env
	reviewed map[types.NamespacedName]verdict
}

func newAccess(env ctrl.Env) *access {
	return &access{Env: env, reviewed: map[types.NamespacedName]verdict{}}
}

// forbidden says in sorted sentences which classes name what may not be read. Where a review fails, the last one
// stands; of one without any, nothing is said but the error.
func (a *access) forbidden(ctx context.Context, queue ctrl.Queue, uses secretUses) ([]string, error) {
	for secret := range a.reviewed {
		if uses[secret] == nil {
			delete(a.reviewed, secret)
		}
	}
	if len(uses) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, reviewDeadline)
	defer cancel()
	var unknown []error
	for secret := range uses {
		last, known := a.reviewed[secret]
		if known && a.Clock.Since(last.at) < reviewAgain {
			continue
		}
		may, err := a.review(ctx, secret)
		switch {
		case err == nil:
			a.reviewed[secret] = verdict{may, a.Clock.Now()}
		case !known:
			unknown = append(unknown, err)
		}
	}
	queue.AddAfter(factory.DefaultQueueKey, reviewAgain)
	return denials(a.Driver, uses, a.reviewed), errors.Join(unknown...)
}

// review asks the API server whether the controllers' sidecars may read a Secret: all of its namespace, where its
// name depends on the claim.
func (a *access) review(ctx context.Context, secret types.NamespacedName) (bool, error) {
	if isTemplate(secret.Name) {
		secret.Name = ""
	}
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:   "system:serviceaccount:" + driver.Namespace + ":" + a.Driver.ControllerName() + "-sa",
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + driver.Namespace, "system:authenticated"},
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: "get", Resource: "secrets", Namespace: secret.Namespace, Name: secret.Name,
		},
	}}
	answer, err := a.Kube.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("asking whether the driver's controllers may read Secret %s: %w", secret, err)
	}
	return answer.Status.Allowed, nil
}

// shown is how many names a sentence has.
const shown = 5

// denials has a sentence for each Secret that may not be read.
func denials(d driver.Driver, uses secretUses, reviewed map[types.NamespacedName]verdict) []string {
	var out []string
	for secret, who := range uses {
		if review, known := reviewed[secret]; !known || review.may {
			continue
		}
		verb := "names"
		if len(who) > 1 {
			verb = "name"
		}
		out = append(out, fmt.Sprintf("%s %s Secret %s, which the driver's controllers may not read; allow it: %s",
			condition.Names(slices.Sorted(slices.Values(who)), shown), verb, secret, d.AllowSecrets(secret.Namespace)))
	}
	slices.Sort(out)
	return out
}
