package pools

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	operatorv1 "github.com/openshift/api/operator/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

func TestHome(t *testing.T) {
	yes, no := true, false
	own, shared, none := home{"infra", "infra"}, home{"csi", ""}, home{}
	inFiles := ceph.Placement{FSID: "f", Filesystem: "a"}
	in := func(h home) ceph.Placement {
		return ceph.Placement{FSID: "f", Filesystem: "a", SubvolumeGroup: h.group, JournalNamespace: h.journal}
	}
	entry := func(clusterID string, h home) []ceph.ConfigEntry {
		return []ceph.ConfigEntry{{ClusterID: clusterID, SubvolumeGroup: h.group, JournalNamespace: h.journal}}
	}
	group := driver.Settings{SubvolumeGroup: "named"}
	tests := map[string]struct {
		reason string
		in     input
		want   home
		by     origin
	}{
		"New":            {"nobody else's users reach it", input{fsid: "f", users: &yes}, own, chosen},
		"New, passed":    {"the given user has rights to ceph-csi's own, if at all", input{fsid: "f", users: &no}, none, chosen},
		"New, early":     {"what the first volume is made in stays", input{fsid: "f"}, none, waiting},
		"New, named":     {"a group of the administrator's, and a journal of our own", input{fsid: "f", users: &yes, settings: group}, home{"named", "infra"}, chosen},
		"Recorded":       {"volumes are there", input{fsid: "f", class: inFiles, recorded: in(own), users: &no}, own, remembered},
		"Former":         {"operators before this one had no journal of their own", input{fsid: "f", class: inFiles, recorded: in(shared), users: &yes}, shared, remembered},
		"Renamed":        {"the administrator's word", input{fsid: "f", recorded: in(own), settings: group}, home{"named", "infra"}, remembered},
		"Renamed, used":  {"ceph-csi looks for all volumes in one group", input{fsid: "f", recorded: in(own), settings: group, held: true}, own, remembered},
		"Entry, renamed": {"likewise", input{fsid: "f", config: entry("f", own), settings: group, held: true}, own, chosen},
		"Ceph down":      {"the record counts before Ceph answers", input{class: inFiles, recorded: in(own)}, own, remembered},
		"Moved":          {"another Ceph cluster begins anew", input{fsid: "g", class: inFiles, recorded: in(shared), users: &yes}, own, chosen},
		"Moved back":     {"config.json has what was", input{fsid: "f", recorded: ceph.Placement{FSID: "g", SubvolumeGroup: "x"}, config: entry("f", own), users: &yes}, own, chosen},
		"Entry":          {"the driver has worked with it", input{fsid: "f", config: entry("f", none), users: &yes}, none, chosen},
		"Other entry":    {"ceph-csi would mix up the journals of two clusterIDs", input{fsid: "f", config: entry("g", shared), users: &yes}, home{"infra", ""}, chosen},
		"Class":          {"it may have volumes", input{fsid: "f", class: inFiles, users: &yes}, none, lost},
		"Volumes":        {"the class was removed", input{fsid: "f", volumes: map[ceph.Placement]int{inFiles: 1}, users: &yes}, none, lost},
		"Lost, offline":  {"nothing says where", input{class: inFiles}, none, lost},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.in.infraID = "infra"
			got, by := homeOf(driver.CephFS, tc.in)
			if got != tc.want || by != tc.by {
				t.Errorf("%s: got %+v by %d, want %+v by %d", tc.reason, got, by, tc.want, tc.by)
			}
			if place := wish(driver.CephFS, tc.in).Placement; place.SubvolumeGroup != tc.want.group || place.JournalNamespace != tc.want.journal {
				t.Errorf("%s: the wish is %+v", tc.reason, place)
			}
			place, published := known(driver.CephFS, tc.in)
			expected := tc.by == remembered && named(tc.in.recorded)
			if published != expected || published && (home{place.SubvolumeGroup, place.JournalNamespace}) != (home{tc.in.recorded.SubvolumeGroup, tc.in.recorded.JournalNamespace}) {
				t.Errorf("%s: %+v is published without Ceph: %v", tc.reason, place, published)
			}
		})
	}
	if got, by := homeOf(driver.RBD, input{fsid: "f", class: ceph.Placement{FSID: "f", Pool: "p"}}); got != none || by != remembered {
		t.Errorf("images have no group: %+v by %d", got, by)
	}
}

// TestHomeStays: ceph-csi looks for all volumes in the one group of config.json, and takes those that it does not find for deleted.
func TestHomeStays(t *testing.T) {
	tests := map[string]struct {
		reason, group string
		held          bool
		err           error
		// volumes are the groups of PersistentVolumes.
		volumes []string
		want    string
		bad     string // reason of the condition
	}{
		"Used":    {reason: "volumes would be lost", group: "named", held: true, want: "infra", bad: condition.InvalidSettings},
		"Unseen":  {reason: "unreadable is not empty", group: "named", err: errors.New("later"), want: "infra", bad: condition.SyncError},
		"Volumes": {reason: "they need no second look", group: "named", volumes: []string{"infra", "named"}, want: "infra", bad: condition.InvalidSettings},
		"Mended":  {reason: "volumes are where the settings say", group: "named", held: true, volumes: []string{"named"}, want: "named"},
		"Unused":  {reason: "nothing is there yet", group: "named", want: "named"},
		"Same":    {reason: "nothing changes", group: "infra", held: true, want: "infra"},
		"Unnamed": {reason: "nobody wants another", held: true, want: "infra"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var volumes []runtime.Object
			for _, group := range tc.volumes {
				volumes = append(volumes, volume(driver.CephFS, group, map[string]string{"subvolumePath": "/volumes/" + group + "/csi-vol-1/x"}))
			}
			r := newFilesRig(t, volumes...)
			r.record.place, r.record.known = state.Placement{FSID: r.fsid(), Filesystem: "a", SubvolumeGroup: "infra", JournalNamespace: "infra"}, true
			r.config.Held = func(context.Context) (bool, error) { return tc.held, tc.err }
			r.controller = New(r.config)
			r.settings.SubvolumeGroup = tc.group
			r.sync(t)
			r.sync(t)
			got := r.operator.Condition(condition.PoolsDegraded)
			if bad := got != nil && got.Status == operatorv1.ConditionTrue; r.place().SubvolumeGroup != tc.want || r.record.place.SubvolumeGroup != tc.want || bad != (tc.bad != "") {
				t.Fatalf("%s: %+v, recorded %+v, %+v", tc.reason, r.place(), r.record.place, got)
			}
			if tc.bad != "" && (got.Reason != tc.bad || !strings.Contains(got.Message, `is "named", and`) || !strings.Contains(got.Message, `in subvolume group "infra"`)) {
				t.Errorf("%s: %+v", tc.reason, got)
			}
			if len(tc.volumes) > 1 {
				return
			}
			tc.held, tc.err = false, nil
			r.later(t)
			if want := cmp.Or(tc.group, "infra"); r.place().SubvolumeGroup != want || r.operator.Condition(condition.PoolsDegraded).Status != operatorv1.ConditionFalse {
				t.Errorf("once nothing is there: %+v, %+v", r.place(), r.operator.Condition(condition.PoolsDegraded))
			}
		})
	}
}

// newFilesRig has filesystem "a", and nobody knows yet who the driver's users are.
func newFilesRig(t *testing.T, objects ...runtime.Object) *rig {
	t.Helper()
	r := newRig(t, driver.CephFS, nil, objects...)
	r.ceph.AddFileSystem("a", true)
	r.config.Minted = &ctrl.Latest[bool]{}
	r.controller = New(r.config)
	return r
}

// TestNewHome: the record comes before anything that has volumes made.
func TestNewHome(t *testing.T) {
	r := newFilesRig(t)
	r.sync(t)
	if len(r.ceph.Writes()) > 0 || r.record.saves > 0 || r.operator.Condition(condition.PoolsDegraded) != nil {
		t.Fatalf("before it is known who the users are: wrote %v, %d records", r.ceph.Writes(), r.record.saves)
	}
	r.config.Minted.Set(true)
	r.record.saving = func() {
		if _, placed := r.controller.Placement.Get(); r.record.saves == 0 && (placed || len(r.ceph.Groups("a")) > 0) {
			t.Error("the record comes too late")
		}
	}
	r.sync(t)
	want := ceph.Placement{FSID: r.fsid(), Filesystem: "a", SubvolumeGroup: "infra", JournalNamespace: "infra"}
	if r.place() != want || r.record.place != state.Placement(want) || !slices.Equal(r.ceph.Groups("a"), []string{"infra"}) {
		t.Errorf("got %+v, recorded %+v, groups %v", r.place(), r.record.place, r.ceph.Groups("a"))
	}
	reads := r.record.reads
	r.config.Minted.Set(false)
	r.later(t)
	if r.place() != want || r.record.reads > reads {
		t.Errorf("it moved to %+v, or is looked up past the cache for ever: %d reads", r.place(), r.record.reads-reads)
	}
}

// TestHomeWithoutMDS: ceph-csi is told where volumes are to be made, so that its pods can start.
func TestHomeWithoutMDS(t *testing.T) {
	r := newFilesRig(t)
	r.client.noMDS = true
	r.config.Minted.Set(true)
	r.sync(t)
	if want := (state.Placement{FSID: r.fsid(), SubvolumeGroup: "infra", JournalNamespace: "infra"}); r.record.place != want {
		t.Errorf("recorded %+v, want %+v", r.record.place, want)
	}
	if _, placed := r.controller.Placement.Get(); placed {
		t.Error("there is no place yet")
	}
}

// TestUnseenHome: a cache that lacks the record must not have another one overwrite it.
func TestUnseenHome(t *testing.T) {
	r := newFilesRig(t)
	r.config.Minted.Set(true)
	r.record.place, r.record.known, r.record.unseen = state.Placement{FSID: r.fsid(), Filesystem: "a", SubvolumeGroup: "csi"}, true, true
	r.sync(t)
	if r.record.saves > 0 || r.record.place.SubvolumeGroup != "csi" || r.place().SubvolumeGroup != "csi" || r.place().JournalNamespace != "" {
		t.Errorf("place %+v, recorded %+v", r.place(), r.record.place)
	}
}

// TestLostHome: record and config.json were deleted, and volumes are there.
func TestLostHome(t *testing.T) {
	tests := map[string]struct {
		reason string
		groups []string
		noMDS  bool
		want   home
	}{
		"Own":    {"nobody else has a group of that name", []string{"csi", "infra"}, false, home{"infra", "infra"}},
		"Shared": {"from before there were others", []string{"csi"}, false, home{"csi", ""}},
		"NoMDS":  {"not known yet", []string{"csi", "infra"}, true, home{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newFilesRig(t, ourClass(driver.CephFS, driver.CephFS.Storage.Parameters(ceph.Placement{FSID: cephtest.FSID, Filesystem: "a"})))
			for _, group := range tc.groups {
				if err := r.client.EnsureSubvolumeGroup(t.Context(), "a", group); err != nil {
					t.Fatal(err)
				}
			}
			r.config.Minted.Set(true)
			r.client.noMDS = tc.noMDS
			r.sync(t)
			if got := (home{r.record.place.SubvolumeGroup, r.record.place.JournalNamespace}); got != tc.want {
				t.Errorf("%s: recorded %+v, want %+v", tc.reason, got, tc.want)
			}
		})
	}
}
