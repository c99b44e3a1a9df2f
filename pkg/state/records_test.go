package state_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// TestNothingIsOmitted: a field that is left out where it is empty would keep what an earlier version wrote.
func TestNothingIsOmitted(t *testing.T) {
	for _, record := range []any{state.Cluster{}, state.CephUsers{}, state.Placement{}, state.Settings{}, state.Class{}, state.InfraID{}} {
		content, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(content, &fields); err != nil {
			t.Fatal(err)
		}
		if want := reflect.TypeOf(record).NumField(); len(fields) != want {
			t.Errorf("%T is written as %s, which has not all of its %d fields", record, content, want)
		}
	}
}
