package virtualization

import (
	"context"
	"errors"
	"fmt"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// The versions in which `uninstall` reads what others bring.
var (
	storageProfileVersion = storageProfiles.WithVersion("v1beta1")
	settingVersion        = settings.WithVersion("v1beta1")
	storageClassVersion   = storagev1.SchemeGroupVersion.WithResource("storageclasses")
)

// Trace is what a driver's operator has written into somebody else's object.
type Trace struct {
	// What tells it to a person.
	What string
	// Remove takes it back; where the object has gone, or others have written over it, there is
	// nothing to do.
	Remove func(ctx context.Context) error
}

// Traces finds what a driver's operator, which no longer runs, has written into StorageProfiles,
// StorageClasses of others, and Harvester's settings. What somebody else has changed since then
// is theirs, and stays.
func Traces(ctx context.Context, client dynamic.Interface, d driver.Driver) ([]Trace, error) {
	var out []Trace
	var errs []error
	for _, a := range []applied{
		{client: client.Resource(storageProfileVersion), resource: storageProfileVersion, kind: "StorageProfile",
			manager: d.FieldManager(profilesName), path: []string{"f:spec"}},
		inClasses(client, d),
	} {
		found, err := a.traces(ctx)
		out, errs = append(out, found...), append(errs, err)
	}
	for _, name := range []string{driverConfig.name, expansion.name} {
		held, err := client.Resource(settingVersion).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("reading Setting %s: %w", name, err))
			continue
		}
		if unentered(held, d) == nil {
			continue
		}
		out = append(out, Trace{
			What:   fmt.Sprintf("the entry of %s in Setting %s", d.Name, name),
			Remove: func(ctx context.Context) error { return withdraw(ctx, client.Resource(settingVersion), name, d) },
		})
	}
	return out, errors.Join(errs...)
}

// inClasses are the annotations of StorageClasses.
func inClasses(client dynamic.Interface, d driver.Driver) applied {
	return applied{client: client.Resource(storageClassVersion), resource: storageClassVersion, kind: "StorageClass",
		manager: d.FieldManager(annotationsName), path: []string{"f:metadata", "f:annotations"}}
}

// applied are fields that were written by server-side apply.
type applied struct {
	client        dynamic.NamespaceableResourceInterface
	resource      schema.GroupVersionResource
	kind, manager string
	path          []string
}

func (a applied) traces(ctx context.Context) ([]Trace, error) {
	all, err := a.client.List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", a.resource.GroupResource(), err)
	}
	var out []Trace
	for _, object := range all.Items {
		keys := ownersOf(&object, a.path...).of(a.manager)
		if len(keys) == 0 {
			continue
		}
		where := strings.NewReplacer("f:", "").Replace(strings.Join(a.path, "."))
		out = append(out, Trace{
			What:   fmt.Sprintf("of %s %s, %s: %s", a.kind, object.GetName(), where, strings.Join(keys, ", ")),
			Remove: func(ctx context.Context) error { return a.release(ctx, object.GetName(), object) },
		})
	}
	return out, nil
}

// release applies nothing, which removes what the manager alone owns. The uid keeps it from
// creating an object that has gone meanwhile.
func (a applied) release(ctx context.Context, name string, object unstructured.Unstructured) error {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	nothing := &unstructured.Unstructured{Object: map[string]any{}}
	nothing.SetGroupVersionKind(object.GroupVersionKind())
	nothing.SetName(name)
	nothing.SetUID(object.GetUID())
	_, err := a.client.Apply(ctx, name, nothing, metav1.ApplyOptions{FieldManager: a.manager})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("taking back what was written into %s %s: %w", a.kind, name, err)
	}
	return nil
}

// unentered is a setting without the driver's entry, and without the memory of it; nil where
// there is neither. An entry that somebody else chose stays, as does a value that cannot be read.
func unentered(setting *unstructured.Unstructured, d driver.Driver) *unstructured.Unstructured {
	annotations := setting.GetAnnotations()
	last, written := annotations[appliedPrefix+d.Name]
	if !written {
		return nil
	}
	out := setting.DeepCopy()
	delete(annotations, appliedPrefix+d.Name)
	out.SetAnnotations(annotations)
	value, _, _ := unstructured.NestedString(setting.Object, valueField)
	all, err := readEntries(value)
	held, there := find(all, d.Name)
	if err != nil || !there || !sameJSON(string(held.raw), last) {
		return out
	}
	rest := withoutEntry(value, all, d.Name)
	if defaults, _, _ := unstructured.NestedString(setting.Object, defaultField); rest == defaults {
		rest = "" // As it was: Harvester's default counts.
	}
	out.Object[valueField] = rest
	return out
}

// withdraw tries again where somebody else wrote at the same time.
func withdraw(ctx context.Context, client dynamic.ResourceInterface, name string, d driver.Driver) error {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	for {
		held, err := client.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading Setting %s: %w", name, err)
		}
		rest := unentered(held, d)
		if rest == nil {
			return nil
		}
		_, err = client.Update(ctx, rest, metav1.UpdateOptions{})
		if err == nil || apierrors.IsNotFound(err) {
			return nil
		}
		if !apierrors.IsConflict(err) {
			return fmt.Errorf("removing the entry of %s from Setting %s: %w", d.Name, name, err)
		}
	}
}
