package embedded

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	configv1 "github.com/openshift/api/config/v1"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/statedir"
)

// TestFailedStart fails late: the API server refuses what the cluster should look like.
func TestFailedStart(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	dir := filepath.Join(t.TempDir(), "cluster")
	_, err := Start(t.Context(), Options{Dir: dir, ControlPlaneTopology: configv1.TopologyMode("Round"), WithoutCeph: true})
	if err == nil {
		t.Fatal("no error for a topology that OpenShift does not have")
	}
	for _, want := range []string{dir, "Infrastructure", "Round"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "logs", "kube-apiserver.log")); err != nil {
		t.Errorf("the log is gone: %v", err)
	}
	if left, err := statedir.Leftovers(dir); len(left) != 0 || err != nil {
		t.Errorf("still running: %v, %v", left, err)
	}
}

func TestStartWithoutCephInstalled(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Start(t.Context(), Options{})
	if err == nil {
		t.Fatal("no error without Ceph's programs")
	}
	for _, want := range []string{"ceph-mon", "make dependencies"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
}
