package subvolumes

import (
	"context"
	"errors"
	"strings"
	"testing"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown/teardowntest"
)

// TestManagerLoadsItsModules: a mgr that was restarted a moment ago is waited for, a while.
func TestManagerLoadsItsModules(t *testing.T) {
	f, _ := layout(t)
	now := clocktesting.NewFakeClock(clock.RealClock{}.Now())
	defer teardowntest.StepWhileWaiting(now, loadingPause)()
	var told []string
	find := func() error {
		part := New(Config{
			Options: teardown.Options{InfraID: "a", JournalNamespaces: journalNamespaces}, Ceph: f, Clock: now,
			Manager: func(context.Context) (Manager, error) { return f, nil },
			Mount:   func(context.Context, string) (Mount, error) { return fakeMount{fakeFiles: f}, nil },
			Tell:    func(sentence string) { told = append(told, sentence) },
		})
		_, err := part.Find(t.Context(), nil)
		return err
	}
	f.loading = 3
	if err := find(); err != nil || len(told) != 1 || !strings.Contains(told[0], "module volumes") {
		t.Errorf("told %q, %v", told, err)
	}
	f.loading = int(loadingPatience/loadingPause) * 2
	if err := find(); !errors.Is(err, ceph.ErrNotLoaded) || !strings.Contains(err.Error(), "ceph mgr module enable volumes") {
		t.Errorf("a module that is disabled: %v", err)
	}
}
