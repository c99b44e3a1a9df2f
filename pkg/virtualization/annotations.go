package virtualization

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

const (
	annotationsName = "CephHarvesterClasses"
	// ownProcess is the field manager of what this program writes otherwise, such as a
	// StorageClass that it deletes and creates anew, with its annotations.
	ownProcess = driver.Program
)

// annotationOf are the annotations of StorageClasses from which Harvester fills the fields of
// StorageProfiles. It empties a field without an annotation.
var annotationOf = map[string]string{
	cloneStrategyField: "cdi.harvesterhci.io/storageProfileCloneStrategy",
	snapshotClassField: "cdi.harvesterhci.io/storageProfileVolumeSnapshotClass",
	claimSetsField:     "cdi.harvesterhci.io/storageProfileVolumeModeAccessModes",
}

type classHints struct{ Config }

// NewAnnotations returns the controller that tells Harvester, in annotations of the driver's
// StorageClasses, what NewProfiles tells CDI elsewhere. It writes HarvesterClassesCurrent:
// False, reason UserOverrides, while an annotation has a value that somebody else chose,
// AdmissionRefused or SyncError. Without Harvester, or CDI, it is absent.
func NewAnnotations(config Config) factory.Controller {
	return config.controller(annotationsName, classHints{config}.sync)
}

func (c classHints) sync(ctx context.Context, _ factory.SyncContext) error {
	v := c.voice(annotationsName, condition.HarvesterClassesCurrent)
	known, _ := c.Watches.all(storageProfiles, snapshotClasses)
	if known == absent || len(c.Served(harvesterSettings)) == 0 {
		return v.silent(ctx)
	}
	if known == loading {
		return nil // NewProfiles tells why.
	}
	overrides, err := c.annotate(ctx)
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return err // Our copy is a moment old; nothing is wrong.
	case err != nil:
		return v.failed(ctx, reasonOf(err), err)
	case len(overrides) > 0:
		return v.bad(ctx, condition.UserOverrides, strings.Join(overrides, "; "))
	}
	return v.good(ctx)
}

func (c classHints) annotate(ctx context.Context) ([]string, error) {
	classes, err := c.StorageClasses.Lister().List(labels.Everything())
	if err != nil {
		return nil, fmt.Errorf("listing StorageClasses: %w", err)
	}
	all, images := readSnapshotClasses(c.Watches, c.Driver), bootImages(classes)
	var messages []string
	var errs []error
	for _, class := range classes {
		profile := c.Watches.get(storageProfiles, class.Name)
		if class.Provisioner != c.Driver.Name || profile == nil || below(profile, "status")["provisioner"] == nil {
			continue
		}
		overrides, err := c.annotateOne(ctx, suiting(c.Driver.Virtualization, class, images), class, below(profile, "status"), snapshotClassFor(class, all))
		if err != nil {
			errs = append(errs, fmt.Errorf("annotating StorageClass %s: %w", class.Name, err))
		}
		for _, o := range overrides {
			messages = append(messages, fmt.Sprintf("StorageClass %s: annotation %s belongs to %s, the operator would have it %s; to have that: kubectl annotate storageclass %s %s-",
				class.Name, o.key, o.by, text(o.wanted), class.Name, o.key))
		}
	}
	slices.Sort(messages)
	return messages, errors.Join(errs...)
}

func (c classHints) annotateOne(ctx context.Context, v driver.Virtualization, class *storagev1.StorageClass, status values, snapshots string) ([]override, error) {
	current := values{}
	for key, value := range class.Annotations {
		current[key] = value
	}
	held, manager := ownersOf(class, "f:metadata", "f:annotations"), c.Driver.FieldManager(annotationsName)
	wanted := annotations(hints(v, class, snapshots, status, fieldsOf(held.of(manager))))
	adopted := held.adopt(ownProcess, manager, wanted)
	p := decide(wanted, current, held, manager)
	refused, err := p.perform(ctx, ".metadata.annotations.", func(ctx context.Context, set values) error {
		return c.apply(ctx, class, set, adopted)
	})
	return append(p.overrides, refused...), err
}

// apply writes annotations. Those that this program has written in another way are taken over
// by force, which is safe as long as nobody writes in between: hence the version.
func (c classHints) apply(ctx context.Context, class *storagev1.StorageClass, set values, force bool) error {
	metadata := map[string]any{"name": class.Name, "uid": string(class.UID), "annotations": map[string]any(set)}
	if force {
		metadata["resourceVersion"] = class.ResourceVersion
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": storagev1.SchemeGroupVersion.String(), "kind": "StorageClass", "metadata": metadata,
	}}
	_, err := c.Dynamic.Resource(storageClassVersion).Apply(ctx, class.Name, object, metav1.ApplyOptions{FieldManager: c.Driver.FieldManager(annotationsName), Force: force})
	if err == nil {
		c.Recorder.Eventf("StorageClassAnnotated", "Annotated StorageClass %s: %s", class.Name, text(set))
	}
	return err
}

// annotations are hints in the form that Harvester reads.
func annotations(hints values) values {
	out := values{}
	for field, key := range annotationOf {
		switch value := hints[field].(type) {
		case string:
			out[key] = value
		case []any:
			// Of several volume modes, Harvester would put any first.
			first, _ := value[0].(map[string]any)
			mode, _ := first["volumeMode"].(string)
			raw, _ := json.Marshal(map[string]any{mode: first["accessModes"]})
			out[key] = string(raw)
		}
	}
	return out
}

// fieldsOf are the fields that annotations stand for.
func fieldsOf(keys []string) []string {
	var out []string
	for field, key := range annotationOf {
		if slices.Contains(keys, key) {
			out = append(out, field)
		}
	}
	return out
}
