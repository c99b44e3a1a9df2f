package settings

import (
	"context"
	"errors"
	"reflect"
	"testing"

	operatorv1 "github.com/openshift/api/operator/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// A start must not take what it has not read for what is not there.
func TestNothingReadYet(t *testing.T) {
	server := &apiServer{cr: resource(pruned)}
	c := newController(conditiontest.New(operatorv1.Managed), &memory{}, server)
	c.Reader.Synced = func() bool { return false }
	if _, err := c.Reader.Current(); !errors.Is(err, errNotRead) {
		t.Errorf("got %v, want %v", err, errNotRead)
	}
	server.annotate(text)
	if got, err := c.Reader.Current(); !errors.Is(err, errNotRead) {
		t.Errorf("others may have been kept since: got %v, %v, want %v", got, err, errNotRead)
	}
	server.set(set(good))
	if _, err := c.Reader.Current(); err != nil {
		t.Errorf("the member is in force whatever is remembered: %v", err)
	}
}

// TestDroppedBeforeAnyWasKept: a watch that is older than the CRD drops the first settings from the cache, until the
// annotation comes, which the API server is asked for. Meanwhile those go on that were in force.
func TestDroppedBeforeAnyWasKept(t *testing.T) {
	server := &apiServer{cr: resource(nil)}
	c := newController(conditiontest.New(operatorv1.Managed), &memory{}, server)
	if got, err := c.Reader.Current(); err != nil || !reflect.DeepEqual(got, driver.Settings{}) {
		t.Fatalf("nothing is set: %v, %v", got, err)
	}
	server.set(pruned)
	if got, err := c.Reader.Current(); err != nil || !reflect.DeepEqual(got, driver.Settings{}) {
		t.Errorf("the defaults were in force: %v, %v", got, err)
	}
	later := newController(conditiontest.New(operatorv1.Managed), &memory{}, server)
	if _, err := later.Reader.Current(); !errors.Is(err, driver.ErrPrunedSettings) {
		t.Errorf("another process does not know what was: %v", err)
	}
	server.set(pruned)
	server.cr.SetUID("another")
	if _, err := c.Reader.Current(); !errors.Is(err, driver.ErrPrunedSettings) {
		t.Errorf("another ClusterCSIDriver has settings of its own: %v", err)
	}
}

// TestNoneBefore: what counts without a ClusterCSIDriver was not set in the one that comes.
func TestNoneBefore(t *testing.T) {
	server := &apiServer{}
	c := newController(conditiontest.New(operatorv1.Managed), &memory{}, server)
	if got, err := c.Reader.Current(); err != nil || !reflect.DeepEqual(got, driver.Settings{}) {
		t.Fatalf("there is no ClusterCSIDriver: %v, %v", got, err)
	}
	server.cr = resource(pruned)
	if got, err := c.Reader.Current(); !errors.Is(err, driver.ErrPrunedSettings) {
		t.Errorf("nobody knows what is set: %v, %v", got, err)
	}
}

// TestRememberedFollowsTheAnnotation: what a former version has kept is in force by the ConfigMap until the annotation says it.
// A cache may be behind with either; it must not go back to the annotation of before.
func TestRememberedFollowsTheAnnotation(t *testing.T) {
	server := &apiServer{cr: resource(pruned)}
	server.annotate(text)
	server.cr.SetResourceVersion("7")
	m := &memory{last: &state.Settings{Ceph: map[string]any{"mounter": "rbd"}, Annotated: text}}
	c := newController(conditiontest.New(operatorv1.Managed), m, server)
	cached := server.cr
	c.Reader.Resource = func() (*unstructured.Unstructured, error) { return cached, nil }
	c.Apply = func(ctx context.Context, cr *unstructured.Unstructured, manager string) error {
		if cr.GetResourceVersion() != "7" {
			t.Errorf("what a person has written since would be lost: resource version %q", cr.GetResourceVersion())
		}
		return server.apply(ctx, cr, manager)
	}
	for _, step := range []struct {
		reason string
		seen   bool
		writes int
	}{
		{"the annotation is written first", false, 0},
		{"the cache has the one of before still", false, 0},
		{"it is there", true, 1},
		{"nothing to do", true, 1},
	} {
		if step.seen {
			cached = server.cr
		}
		sync(t, c)
		if got, err := c.Reader.Current(); err != nil || got.Mounter != "rbd" || m.writes != step.writes || server.writes != 1 {
			t.Errorf("%s: mounter %q, %v, %d writes of what is remembered, want %d, and %d of the annotation", step.reason, got.Mounter, err, m.writes, step.writes, server.writes)
		}
	}
}
