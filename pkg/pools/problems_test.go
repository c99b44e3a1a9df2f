package pools

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func (r *rig) expect(t *testing.T, reason, why string, text ...string) {
	t.Helper()
	got := r.operator.Condition(condition.PoolsDegraded)
	if why == "" {
		if got != nil {
			t.Errorf("%s: got condition %+v, want none", reason, got)
		}
		return
	}
	if got == nil || got.Reason != why || (got.Status == operatorv1.ConditionFalse) != (why == condition.AsExpected) {
		t.Fatalf("%s: got condition %+v, want reason %s", reason, got, why)
	}
	for _, part := range text {
		if !strings.Contains(got.Message, part) {
			t.Errorf("%s: message %q does not contain %q", reason, got.Message, part)
		}
	}
}

func TestProblems(t *testing.T) {
	errBoom := errors.New("boom")
	tests := map[string]struct {
		reason string
		driver driver.Driver
		denied []string
		before func(*rig)
		// mayPass: only what lasts is a condition.
		mayPass bool
		why     string
		text    []string
	}{
		"SettingMissing": {
			reason: "field, value and what there is",
			driver: driver.RBD,
			before: func(r *rig) {
				r.settings.Pool = "vms"
				r.ceph.AddPool(ceph.Pool{Name: "a", Applications: []string{"rbd"}})
			},
			why:  condition.NoPool,
			text: []string{`"vms"`, "spec.driverConfig.ceph.pool of ClusterCSIDriver rbd.csi.ceph.com", `"a"`},
		},
		"SettingInvalid": {
			reason: "the text of pkg/driver",
			driver: driver.RBD,
			before: func(r *rig) { r.wrong = fmt.Errorf("%w: x", driver.ErrInvalidSettings) },
			why:    condition.InvalidSettings,
		},
		"DeniedAndNoPool": {
			reason: "what to set or to run",
			driver: driver.RBD,
			denied: []string{"osd pool create"},
			before: func(*rig) {},
			why:    condition.NoPool,
			text:   []string{"ceph.pool", "ceph osd pool create infra-rbd"},
		},
		"DeniedList": {
			reason: "a user without the caps",
			driver: driver.RBD,
			denied: []string{"osd pool ls"},
			before: func(*rig) {},
			why:    condition.AccessDenied,
			text:   []string{"openshift-cluster-csi-drivers/ceph-credentials", "ceph auth caps"},
		},
		"RecordUnreadable": {
			reason: "choosing anew could move the class",
			driver: driver.RBD,
			before: func(r *rig) { r.record.fail = errBoom },
			why:    condition.SyncError,
			text:   []string{"boom"},
		},
		"NoFilesystem": {
			reason: "deployed, so that Disabled is no way out",
			driver: driver.CephFS,
			before: func(*rig) {},
			why:    condition.NoFilesystem,
		},
		"NoActiveMDS": {
			reason:  "no command may be sent",
			driver:  driver.CephFS,
			before:  func(r *rig) { r.ceph.AddFileSystem("a", false) },
			mayPass: true,
			why:     condition.NoActiveMDS,
			text:    []string{`"a"`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tc.driver, tc.denied)
			tc.before(r)
			r.sync(t)
			if tc.mayPass {
				r.expect(t, tc.reason, "")
				r.later(t)
			}
			r.expect(t, tc.reason, tc.why, tc.text...)
			if place, published := r.controller.Placement.Get(); published {
				t.Errorf("%s: published %+v", tc.reason, place)
			}
			writes := r.operator.Writes()
			r.later(t)
			if r.operator.Writes() != writes {
				t.Errorf("%s: the message does not stand still", tc.reason)
			}
		})
	}
}
