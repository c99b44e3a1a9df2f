package settings

import (
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

const annotationPath = "metadata.annotations[" + driver.SettingsAnnotation + "]"

// declared are the settings that stand in a ClusterCSIDriver.
type declared struct {
	// fields are as somebody wrote them; nil where nothing is set.
	fields map[string]any
	path   string
	// pruned says that a CRD has dropped the member.
	pruned bool
	// annotation is what the annotation says, in force or not.
	annotation string
	// copied says that the operator wrote it.
	copied bool
}

// declaredIn finds them:
//
//	member         annotation                       in force
//	there          any                              the member
//	dropped        there                            the annotation
//	dropped        as it was when others were kept  those of last
//	dropped        none                             ErrPrunedSettings
//	never set      a person's                       the annotation
//	taken away     the operator's copy              nothing
func declaredIn(d driver.Driver, cr *unstructured.Unstructured, last state.Settings) (declared, error) {
	member, err := driver.Member(cr)
	out := declared{fields: member, path: driver.MemberPath, pruned: errors.Is(err, driver.ErrPrunedSettings)}
	if cr == nil || err != nil && !out.pruned {
		return out, err
	}
	text, found := cr.GetAnnotations()[driver.SettingsAnnotation]
	out.annotation, out.copied = text, ctrl.AppliedAnnotation(cr, d.FieldManager(controllerName), driver.SettingsAnnotation)
	if !found || member != nil || out.copied && !out.pruned {
		return out, err
	}
	if out.pruned && keptSince(d, text, last) {
		out.fields = last.Ceph
		return out, nil
	}
	out.path = annotationPath
	out.fields, err = parse(d, text)
	return out, err
}

// keptSince says whether last are valid settings of an operator that knows no annotation, kept when that said text already.
func keptSince(d driver.Driver, text string, last state.Settings) bool {
	if last.Ceph == nil || last.Annotated != text || same(text, last.Ceph) {
		return false
	}
	_, err := driver.ParseSettings(d, driver.MemberPath, last.Ceph)
	return err == nil
}

func parse(d driver.Driver, text string) (map[string]any, error) {
	fields := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &fields); err != nil {
		return nil, fmt.Errorf("%w of ClusterCSIDriver %s: %s is neither JSON nor YAML of an object: %w",
			driver.ErrInvalidSettings, d.Name, annotationPath, err)
	}
	return fields, nil
}

// Read returns the settings that stand in a ClusterCSIDriver as the API server gives it; without one,
// or where nothing is set, the defaults. An ErrInvalidSettings names every field that is wrong;
// ErrPrunedSettings says that there were some.
func Read(d driver.Driver, cr *unstructured.Unstructured) (driver.Settings, error) {
	stand, err := declaredIn(d, cr, state.Settings{})
	if err != nil {
		return driver.Settings{}, err
	}
	return stand.settings(d)
}

// settings are what is declared. A schema has dropped what nobody knows, but not from what a person wrote into the
// annotation.
func (s declared) settings(d driver.Driver) (driver.Settings, error) {
	if s.path == annotationPath && !s.copied {
		return driver.ParseHandwritten(d, s.path, s.fields)
	}
	return driver.ParseSettings(d, s.path, s.fields)
}

// wanted is what the annotation should say: what the member does; nothing once somebody has taken that
// away. What a person wrote into the annotation stays.
func (s declared) wanted() string {
	switch {
	case s.path == annotationPath, s.fields == nil && !s.copied:
		return s.annotation
	case s.fields == nil:
		return ""
	}
	text, err := json.Marshal(s.fields)
	if err != nil || same(s.annotation, s.fields) {
		return s.annotation // What came as JSON can be written as such.
	}
	return string(text)
}

func same(text string, fields map[string]any) bool {
	in := map[string]any{}
	if text == "" || yaml.Unmarshal([]byte(text), &in) != nil {
		return false
	}
	one, _ := json.Marshal(in)       // It came from JSON.
	other, _ := json.Marshal(fields) // So did this.
	return string(one) == string(other)
}
