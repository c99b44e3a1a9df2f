package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// answers is a Ceph that knows the answers to some commands.
type answers map[string]string

var errBoom = errors.New("boom")

func (a answers) Command(_ context.Context, args ...string) ([]byte, error) {
	out, found := a[strings.Join(args, " ")]
	if !found {
		return nil, errBoom
	}
	return []byte(out), nil
}

func TestAskPlace(t *testing.T) {
	const (
		pools  = "osd pool ls detail --format json"
		groups = "fs subvolumegroup ls cephfs --format json"
	)
	group := state.Placement{Filesystem: "cephfs", SubvolumeGroup: "csi"}
	tests := map[string]struct {
		reason string
		ceph   answers
		place  state.Placement
		want   string
		err    error
	}{
		"Pool": {
			reason: "a pool with its application",
			ceph:   answers{pools: `[{"pool_name":"other"},{"pool_name":"p","size":3,"application_metadata":{"rbd":{}}}]`},
			place:  state.Placement{Pool: "p"},
			want:   "Ceph has pool p (application rbd, size 3)",
		},
		"HalfMade": {
			reason: "without an application ceph-csi cannot use it",
			ceph:   answers{pools: `[{"pool_name":"p","size":3,"application_metadata":{}}]`},
			place:  state.Placement{Pool: "p"},
		},
		"NoPool": {reason: "not there yet", ceph: answers{pools: `[]`}, place: state.Placement{Pool: "p"}},
		"Group": {
			reason: "a group in its filesystem", ceph: answers{groups: `[{"name":"x"},{"name":"csi"}]`}, place: group,
			want: "Ceph has subvolume group csi in filesystem cephfs",
		},
		"NoGroup":  {reason: "not there yet", ceph: answers{groups: `[{"name":"x"}]`}, place: group},
		"NoAnswer": {reason: "the error is the command's", ceph: answers{}, place: group, err: errBoom},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := askPlace(t.Context(), tc.ceph, tc.place)
			if got != tc.want || !errors.Is(err, tc.err) {
				t.Errorf("%s: got %q, %v; want %q, %v", tc.reason, got, err, tc.want, tc.err)
			}
		})
	}
	if _, err := poolIn([]byte("no json"), "p"); err == nil || !strings.Contains(err.Error(), "osd pool ls detail") {
		t.Errorf("an answer that cannot be read must name the command: %v", err)
	}
}
