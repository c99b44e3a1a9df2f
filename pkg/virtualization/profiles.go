package virtualization

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/openshift/library-go/pkg/controller/factory"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const profilesName = "CephStorageProfiles"

type profiles struct{ Config }

// NewProfiles returns the controller that completes CDI's StorageProfiles of the driver's
// StorageClasses. It writes StorageProfilesCurrent: False, reason UserOverrides, while a
// field has a value that somebody else chose, or SyncError. Without CDI it is absent.
func NewProfiles(config Config) factory.Controller {
	return config.controller(profilesName, profiles{config}.sync)
}

func (c profiles) sync(ctx context.Context, _ factory.SyncContext) error {
	v := c.voice(profilesName, condition.StorageProfilesCurrent)
	known, problem := c.Watches.all(storageProfiles, snapshotClasses)
	if known != ready {
		return v.unready(ctx, known, problem)
	}
	overrides, err := c.complete(ctx)
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return err // Our copy is a moment old; nothing is wrong.
	case err != nil:
		return v.failed(ctx, condition.SyncError, err)
	case len(overrides) > 0:
		return v.bad(ctx, condition.UserOverrides, strings.Join(overrides, "; "))
	}
	return v.good(ctx)
}

// complete brings all StorageProfiles up to date, and returns what others have chosen.
func (c profiles) complete(ctx context.Context) ([]string, error) {
	classes, err := c.StorageClasses.Lister().List(labels.Everything())
	if err != nil {
		return nil, fmt.Errorf("listing StorageClasses: %w", err)
	}
	all, images := readSnapshotClasses(c.Watches, c.Driver), bootImages(classes)
	var messages []string
	var errs []error
	for _, class := range classes {
		profile := c.Watches.get(storageProfiles, class.Name)
		if profile == nil {
			continue
		}
		v := suiting(c.Driver.Virtualization, class, images)
		if below(profile, "spec")[imageFormatField] == "pvc" && slices.ContainsFunc(classes, func(o *storagev1.StorageClass) bool { return neverCloned(o, class) }) {
			v.ImageFormat = "" // A person has to choose it for disks with another encryption.
		}
		overrides, err := c.completeOne(ctx, class, profile, all, v)
		errs = append(errs, err)
		for _, o := range overrides {
			messages = append(messages, o.message(class.Name))
		}
	}
	slices.Sort(messages)
	return messages, errors.Join(errs...)
}

func (c profiles) completeOne(ctx context.Context, class *storagev1.StorageClass, profile *unstructured.Unstructured, all []snapshotClass, v driver.Virtualization) ([]override, error) {
	held, status := ownersOf(profile, "f:spec"), below(profile, "status")
	var wanted values
	switch {
	case class.Provisioner != c.Driver.Name: // Another took its name: what is ours goes.
	case status["provisioner"] == nil:
		return nil, nil // CDI has just made it, and will tell what it knows.
	default:
		wanted = hints(v, class, snapshotClassFor(class, all), status, held.of(c.Driver.FieldManager(profilesName)))
	}
	if len(c.Served(harvesterSettings)) > 0 {
		// Harvester empties the other fields unless annotations of the StorageClass have them.
		maps.DeleteFunc(wanted, func(key string, _ any) bool { return key != imageFormatField })
	}
	p := decide(wanted, below(profile, "spec"), held, c.Driver.FieldManager(profilesName))
	refused, err := p.perform(ctx, ".spec.", func(ctx context.Context, spec values) error { return c.apply(ctx, profile, spec) })
	if err != nil {
		return nil, fmt.Errorf("completing StorageProfile %s: %w", profile.GetName(), err)
	}
	return append(p.overrides, refused...), nil
}

// apply writes the spec. The uid keeps it from creating a StorageProfile, which is CDI's to do.
func (c profiles) apply(ctx context.Context, profile *unstructured.Unstructured, spec values) error {
	resource, watched := c.Watches.resource(storageProfiles)
	if !watched {
		return nil
	}
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any(spec)}}
	object.SetAPIVersion(profile.GetAPIVersion())
	object.SetKind(profile.GetKind())
	object.SetName(profile.GetName())
	object.SetUID(profile.GetUID())
	_, err := c.Dynamic.Resource(resource).Apply(ctx, profile.GetName(), object, metav1.ApplyOptions{FieldManager: c.Driver.FieldManager(profilesName)})
	if err == nil {
		c.Recorder.Eventf("StorageProfileCompleted", "Completed StorageProfile %s: %s", profile.GetName(), text(spec))
	}
	return err
}

// message tells of a field of a StorageProfile.
func (o override) message(profile string) string {
	current := ""
	if o.current != nil {
		current = " is " + text(o.current) + " and"
	}
	return fmt.Sprintf("StorageProfile %s: spec.%s%s belongs to %s, the operator would have it %s; to have that: "+
		`oc patch storageprofile %s --type=json -p '[{"op":"remove","path":"/spec/%s"}]'`,
		profile, o.key, current, o.by, text(o.wanted), profile, o.key)
}

func below(object *unstructured.Unstructured, key string) values {
	out, _, _ := unstructured.NestedMap(object.Object, key)
	return out
}
