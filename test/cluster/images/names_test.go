package images

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
)

// TestNamed: what is made here is all that the manifests need, on both looks.
func TestNamed(t *testing.T) {
	root, err := repository.Root()
	if err != nil {
		t.Fatal(err)
	}
	openshift, err := namedIn(filepath.Join(root, "manifests", "10_deployment.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := namedIn(filepath.Join(root, "manifests", "kubernetes", "10_deployment.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(openshift, plain); diff != "" {
		t.Errorf("the manifests for plain Kubernetes name other images:\n%s", diff)
	}
	known := map[string]bool{operatorVariable: true}
	for variable := range sidecars {
		known[variable] = true
	}
	for variable := range standIns {
		known[variable] = true
	}
	for variable, image := range openshift {
		if !known[variable] {
			t.Errorf("no program is known of %s (%s)", variable, image)
		}
		delete(known, variable)
	}
	if len(known) > 0 {
		t.Errorf("programs that the manifests do not name: %v", known)
	}
}

func TestProgramOfAnUnknownImage(t *testing.T) {
	if program, err := Program(t.Context(), t.Output(), "quay.io/somebody/else:latest"); err == nil {
		t.Errorf("got %+v", program)
	}
}
