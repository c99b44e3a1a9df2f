package classes

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const allowRook = "oc create rolebinding ceph-rbd-secrets -n rook-ceph --clusterrole=openshift-csi-provisioner-configmap-and-secret-reader-role " +
	"--serviceaccount=openshift-cluster-csi-drivers:ceph-rbd-csi-driver-controller-sa"

// named are the parameters of a class that names a Secret for one use.
func named(use, namespace, name string) map[string]string {
	return map[string]string{"csi.storage.k8s.io/" + use + "-namespace": namespace, "csi.storage.k8s.io/" + use + "-name": name}
}

func TestSecretUses(t *testing.T) {
	found := func(namespace, name string) secretUses {
		return secretUses{types.NamespacedName{Namespace: namespace, Name: name}: {"C"}}
	}
	tests := map[string]struct {
		reason     string
		parameters map[string]string
		want       secretUses
	}{
		"None":           {reason: "the class names no Secret", parameters: map[string]string{"pool": "p"}, want: secretUses{}},
		"Own":            {reason: "the controllers may read all in their namespace", parameters: named("provisioner-secret", driver.Namespace, "s"), want: secretUses{}},
		"Provisioner":    {reason: "the provisioner reads it", parameters: named("provisioner-secret", "rook-ceph", "s"), want: found("rook-ceph", "s")},
		"Expand":         {reason: "the resizer reads it", parameters: named("controller-expand-secret", "rook-ceph", "s"), want: found("rook-ceph", "s")},
		"Publish":        {reason: "the attacher reads it", parameters: named("controller-publish-secret", "rook-ceph", "s"), want: found("rook-ceph", "s")},
		"Default":        {reason: "the provisioner takes it where a class names none for itself", parameters: named("secret", "rook-ceph", "s"), want: found("rook-ceph", "s")},
		"Snapshotter":    {reason: "the snapshotter reads it", parameters: named("snapshotter-secret", "rook-ceph", "s"), want: found("rook-ceph", "s")},
		"List":           {reason: "so it does to list snapshots", parameters: named("snapshotter-list-secret", "rook-ceph", "s"), want: found("rook-ceph", "s")},
		"Group":          {reason: "and for groups", parameters: named("group-snapshotter-secret", "rook-ceph", "s"), want: found("rook-ceph", "s")},
		"Stage":          {reason: "the kubelet reads it", parameters: named("node-stage-secret", "rook-ceph", "s"), want: secretUses{}},
		"NodeExpand":     {reason: "so it does here", parameters: named("node-expand-secret", "rook-ceph", "s"), want: secretUses{}},
		"Tenants":        {reason: "each claim has another namespace", parameters: named("provisioner-secret", "${pvc.namespace}", "s"), want: secretUses{}},
		"NameOfTheClaim": {reason: "each claim has another Secret of one namespace", parameters: named("provisioner-secret", "rook-ceph", "${pvc.name}"), want: found("rook-ceph", "${pvc.name}")},
		"NoName":         {reason: "the provisioner refuses the class", parameters: map[string]string{"csi.storage.k8s.io/provisioner-secret-namespace": "rook-ceph"}, want: secretUses{}},
		"NoNamespace":    {reason: "the provisioner refuses the class", parameters: map[string]string{"csi.storage.k8s.io/provisioner-secret-name": "s"}, want: secretUses{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := secretUses{}
			got.add("C", tc.parameters)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// authorizer answers reviews as an API server does whose administrator has allowed some namespaces.
type authorizer struct {
	allowed map[string]bool
	down    error
	asked   []authorizationv1.SubjectAccessReviewSpec
}

func (a *authorizer) on(client *fake.Clientset) {
	client.PrependReactor("create", "subjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
		review := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview).DeepCopy()
		a.asked = append(a.asked, review.Spec)
		review.Status.Allowed = a.allowed[review.Spec.ResourceAttributes.Namespace]
		return true, review, a.down
	})
}

func TestReview(t *testing.T) {
	client, api := fake.NewClientset(), &authorizer{}
	api.on(client)
	a := newAccess(ctrl.Env{Driver: driver.RBD, Kube: client, Clock: clocktesting.NewFakeClock(time.Now())})
	for name, want := range map[string]string{"s": "s", "${pvc.name}": ""} {
		api.asked = nil
		uses := secretUses{types.NamespacedName{Namespace: "rook-ceph", Name: name}: {"C"}}
		if _, err := a.forbidden(t.Context(), factory.NewSyncContext("test", events.NewInMemoryRecorder("test", clock.RealClock{})).Queue(), uses); err != nil {
			t.Fatal(err)
		}
		account := "system:serviceaccount:openshift-cluster-csi-drivers:ceph-rbd-csi-driver-controller-sa"
		if diff := cmp.Diff([]authorizationv1.SubjectAccessReviewSpec{{
			User: account, Groups: []string{"system:serviceaccounts", "system:serviceaccounts:openshift-cluster-csi-drivers", "system:authenticated"},
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "secrets", Namespace: "rook-ceph", Name: want},
		}}, api.asked); diff != "" {
			t.Errorf("Secret %s (-want +got):\n%s", name, diff)
		}
	}
}

// TestSecretsElsewhere goes through what happens to a class of a user, in order.
func TestSecretsElsewhere(t *testing.T) {
	const message = "StorageClass ceph-rbd names Secret rook-ceph/s, which the driver's controllers may not read; allow it: " + allowRook
	down := errors.New("no answer")
	steps := []struct {
		reason  string
		allowed bool
		down    error
		later   time.Duration
		fails   bool
		want    string // of the condition; "-" while there is none
		asked   int
	}{
		{reason: "before the first answer, nothing is known", down: down, fails: true, want: "-", asked: 1},
		{reason: "the command", want: message, asked: 1},
		{reason: "a review stands for a while", allowed: true, want: message},
		{reason: "no answer changes nothing", down: down, later: reviewAgain, want: message, asked: 1},
		{reason: "the command was run", allowed: true, want: "", asked: 1},
		{reason: "a right may be taken back", later: reviewAgain, want: message, asked: 1},
	}
	mine := class(driver.RBD.Name, driver.RBD.OperatorName(), named("provisioner-secret", "rook-ceph", "s"))
	api, operator, now := &authorizer{}, conditiontest.New(operatorv1.Managed), clocktesting.NewFakeClock(time.Now())
	config := UsableConfig{StorageClass: newStorageClass(t, driver.RBD, mine, nil), Open: func() bool { return true }, Problems: &ctrl.Latest[[]string]{}, Cluster: &ctrl.Latest[ceph.Cluster]{}, Clusters: &ctrl.Latest[[]ceph.Cluster]{}}
	config.Operator, config.Clock, config.Recorder = operator, now, events.NewInMemoryRecorder("test", clock.RealClock{})
	api.on(config.Kube.(*fake.Clientset))
	config.Problems.Set(nil)
	controller := NewUsable(config)
	writes, last := 0, "-"
	for _, step := range steps {
		now.SetTime(now.Now().Add(step.later))
		api.allowed, api.down, api.asked = map[string]bool{"rook-ceph": step.allowed}, step.down, nil
		for range 2 {
			if err := controller.Sync(t.Context(), factory.NewSyncContext("test", config.Recorder)); (err != nil) != step.fails {
				t.Fatalf("%s: %v", step.reason, err)
			}
			if step.fails || step.down != nil {
				break
			}
		}
		got := "-"
		if c := operator.Condition(condition.ClassesUsable); c != nil {
			got = c.Message
		}
		if got != last {
			writes, last = writes+1, got
		}
		if got != step.want || len(api.asked) != step.asked || operator.Writes() != writes {
			t.Errorf("%s: got %q after %d reviews and %d writes, want %q after %d and %d", step.reason, got, len(api.asked), operator.Writes(), step.want, step.asked, writes)
		}
	}
}

// TestVolumesSecrets: a volume's class may be gone, or have left the namespace to its claims.
func TestVolumesSecrets(t *testing.T) {
	secret := func(namespace string) *corev1.SecretReference {
		return &corev1.SecretReference{Namespace: namespace, Name: "s"}
	}
	here := driver.Namespace
	for name, tc := range map[string]struct {
		reason                   string
		publish, expand, deleted *corev1.SecretReference
		owner                    string
		found                    bool
	}{
		"None":    {"it was made without any", nil, nil, nil, driver.RBD.Name, false},
		"Own":     {"the controllers may read them", secret(here), secret(here), secret(here), driver.RBD.Name, false},
		"Publish": {"the attacher reads it", secret("tenant"), nil, nil, driver.RBD.Name, true},
		"Expand":  {"the resizer reads it", nil, secret("tenant"), nil, driver.RBD.Name, true},
		"Deleted": {"the provisioner reads it in the end", nil, nil, secret("tenant"), driver.RBD.Name, true},
		"Others":  {"another driver's controllers do", secret("tenant"), secret("tenant"), secret("tenant"), driver.CephFS.Name, false},
	} {
		t.Run(name, func(t *testing.T) {
			volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "v"}}
			volume.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: tc.owner, ControllerPublishSecretRef: tc.publish, ControllerExpandSecretRef: tc.expand}
			if tc.deleted != nil {
				driver.SetDeletionSecret(volume, tc.deleted)
			}
			c := &usability{UsableConfig: UsableConfig{StorageClass: newStorageClass(t, driver.RBD, nil, nil)}}
			if err := c.PersistentVolumes.Informer().GetStore().Add(volume); err != nil {
				t.Fatal(err)
			}
			want := secretUses{}
			if tc.found {
				want.name("PersistentVolume v", "tenant", "s")
			}
			volumes, err := c.volumes()
			if err != nil {
				t.Fatal(err)
			}
			got := c.secretUses(nil, volumes)
			if diff := cmp.Diff(want, got); diff != "" || c.matters(volume) != tc.found {
				t.Errorf("%s: is heard of: %t\n%s", tc.reason, c.matters(volume), diff)
			}
		})
	}
}

// TestDenials: a Secret is asked for once, and told of once.
func TestDenials(t *testing.T) {
	uses := secretUses{}
	for _, name := range []string{"b", "a"} {
		c := &storagev1.StorageClass{Parameters: named("provisioner-secret", "rook-ceph", "s")}
		uses.add("StorageClass "+name, c.Parameters)
	}
	uses.add("StorageClass c", named("provisioner-secret", "other", "s"))
	uses.add("StorageClass d", named("provisioner-secret", "free", "s"))
	uses.add("StorageClass e", named("provisioner-secret", "unknown", "s"))
	for _, name := range []string{"7", "6", "5", "4", "3", "2", "1"} {
		uses.name("PersistentVolume "+name, "many", "s")
	}
	verdicts := map[types.NamespacedName]verdict{
		{Namespace: "free", Name: "s"}: {may: true}, {Namespace: "rook-ceph", Name: "s"}: {}, {Namespace: "other", Name: "s"}: {}, {Namespace: "many", Name: "s"}: {},
	}
	want := []string{
		"PersistentVolume 1, PersistentVolume 2, PersistentVolume 3, PersistentVolume 4, PersistentVolume 5 and 2 more name Secret many/s, " +
			"which the driver's controllers may not read; allow it: " + driver.RBD.AllowSecrets("many"),
		"StorageClass a, StorageClass b name Secret rook-ceph/s, which the driver's controllers may not read; allow it: " + allowRook,
		"StorageClass c names Secret other/s, which the driver's controllers may not read; allow it: " + driver.RBD.AllowSecrets("other"),
	}
	if diff := cmp.Diff(want, denials(driver.RBD, uses, verdicts)); diff != "" {
		t.Error(diff)
	}
}

func TestSnapshotSecretsElsewhere(t *testing.T) {
	theirs := func(driverName string) *unstructured.Unstructured {
		out := existing(t, assets.VolumeSnapshotClass, "snapshot.storage.k8s.io/v1", driverName, "")
		out.SetName("theirs")
		out.Object["parameters"] = map[string]any{
			"csi.storage.k8s.io/snapshotter-secret-namespace": "rook-ceph", "csi.storage.k8s.io/snapshotter-secret-name": "s",
		}
		return out
	}
	tests := map[string]struct {
		reason string
		class  *unstructured.Unstructured
		down   error
		fails  bool
		want   *operatorv1.OperatorCondition
	}{
		"Told": {reason: "the command", class: theirs(driver.RBD.Name), want: &operatorv1.OperatorCondition{
			Status: operatorv1.ConditionFalse, Reason: condition.Forbidden,
			Message: "VolumeSnapshotClass theirs names Secret rook-ceph/s, which the driver's controllers may not read; allow it: " + allowRook,
		}},
		"Sibling": {reason: "the other driver's operator tells", class: theirs(driver.CephFS.Name), want: &operatorv1.OperatorCondition{
			Status: operatorv1.ConditionTrue, Reason: condition.AsExpected,
		}},
		"Unknown": {reason: "no answer says nothing", class: theirs(driver.RBD.Name), down: errors.New("no answer"), fails: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newSnapshotsRig(t, tc.class)
			api := &authorizer{down: tc.down}
			api.on(r.config.Kube.(*fake.Clientset))
			if err := r.controller.Sync(t.Context(), r.syncCtx); (err != nil) != tc.fails {
				t.Fatal(err)
			}
			got := r.operator.Condition(condition.SnapshotClassesUsable)
			if got != nil {
				got = &operatorv1.OperatorCondition{Status: got.Status, Reason: got.Reason, Message: got.Message}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
