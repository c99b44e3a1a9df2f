package operator

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
)

func TestRolesFirst(t *testing.T) {
	tests := map[string]struct {
		reason    string
		state     operatorv1.ManagementState
		installed bool
		want      []string
	}{
		"Installation": {"the roles are applied together, then everything in order", operatorv1.Managed, false, []string{"static/10_a.yaml", "static/10_b.yaml", "inner"}},
		"Installed":    {"nothing is gained, and inner compares them anyway", operatorv1.Managed, true, []string{"inner"}},
		"Unmanaged":    {"nothing may be written", operatorv1.Unmanaged, false, []string{"inner"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var got []string
			var together sync.WaitGroup
			together.Add(2)
			r := rolesFirst{
				inner:     func(context.Context, factory.SyncContext) error { got = append(got, "inner"); return nil },
				operator:  conditiontest.New(tc.state),
				installed: func() (bool, error) { return tc.installed, nil },
				files:     []string{"static/05_service.yaml", "static/10_a.yaml", "static/10_b.yaml", "static/20_binding.yaml"},
				apply: func(_ context.Context, _ factory.SyncContext, file string) {
					together.Done()
					together.Wait() // ends only if they run at the same time
					mu.Lock()
					defer mu.Unlock()
					got = append(got, file)
					slices.Sort(got)
				},
			}
			if err := r.sync(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
