package rights

import (
	"path/filepath"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
)

// TestSuite: what one suite has left, another must not replace.
func TestSuite(t *testing.T) {
	root, err := repository.Root()
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]string{}
	for _, folder := range []string{"test/e2e/kubernetes", "test/e2e/node/kubernetes", "test/e2e/node/openshift"} {
		t.Chdir(filepath.Join(root, folder))
		suite, err := Suite()
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(suite) != suite {
			t.Errorf("%s is no name of a file", suite)
		}
		if other, taken := of[suite]; taken {
			t.Errorf("%s and %s are both called %s", other, folder, suite)
		}
		of[suite] = folder
	}
}
