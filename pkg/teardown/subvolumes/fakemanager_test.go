package subvolumes

import (
	"context"
	"syscall"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown/teardowntest"
)

func (f *fakeFiles) RemoveSubvolume(_ context.Context, place ceph.SubvolumePlace, retain bool) error {
	return f.step(func() error {
		s, ok := f.subvolumes[place.Name]
		switch {
		case !ok:
		case len(s.snapshots) > 0 && !retain:
			return teardowntest.Errno("fs subvolume rm", syscall.ENOTEMPTY)
		case s.state == "pending":
			return teardowntest.Errno("fs subvolume rm", syscall.EAGAIN)
		case len(s.snapshots) > 0:
			s.state, s.metadata = ceph.SubvolumeRetained, map[string]string{}
		default:
			delete(f.subvolumes, place.Name)
		}
		return nil
	})
}

func (f *fakeFiles) RemoveSubvolumeSnapshot(_ context.Context, place ceph.SubvolumePlace, name string) error {
	return f.step(func() error {
		s, ok := f.subvolumes[place.Name]
		if !ok {
			return nil
		}
		if snap := s.snapshots[name]; snap != nil && snap.copied {
			return teardowntest.Errno("fs subvolume snapshot rm", syscall.EAGAIN)
		}
		delete(s.snapshots, name)
		if len(s.snapshots) == 0 && s.state == ceph.SubvolumeRetained {
			delete(f.subvolumes, place.Name)
		}
		return nil
	})
}

func (f *fakeFiles) CancelClone(_ context.Context, place ceph.SubvolumePlace) error {
	return f.step(func() error { f.subvolumes[place.Name].state = ceph.SubvolumeCanceled; return nil })
}

func (f *fakeFiles) Clients(context.Context) ([]ceph.FileClient, error) { return f.clients, nil }

func (f *fakeFiles) Close() {}

// tenant is a cluster that lays out volumes as ceph-csi does.
type tenant struct {
	*fakeFiles
	infraID string
}

const journalNamespace = "csi"

// journalNamespaces are those in which runs look.
var journalNamespaces = []string{journalNamespace, "elsewhere", "tenant"}

func (t tenant) journal(kind, uuid string, omap map[string]string) {
	request := "pvc-" + uuid
	key := [2]string{journalNamespace, "csi." + kind + "s.default"}
	if t.omaps[key] == nil {
		t.omaps[key] = map[string]string{}
	}
	t.omaps[key]["csi."+kind+"."+request] = uuid
	t.omaps[[2]string{journalNamespace, "csi." + kind + "." + uuid}] = omap
}

// volume makes a subvolume with its journal, and returns its UUID.
func (t tenant) volume() string {
	uuid := teardowntest.UUID()
	t.journal("volume", uuid, map[string]string{"csi.imagename": "csi-vol-" + uuid, "csi.volname": "pvc-" + uuid, "csi.volume.owner": "shop"})
	t.subvolumes["csi-vol-"+uuid] = &fakeSubvolume{
		state: ceph.SubvolumeComplete, snapshots: map[string]*fakeSnapshot{},
		metadata: map[string]string{ceph.TagCluster: t.infraID, ceph.TagPV: "pvc-" + uuid, ceph.TagPVC: "data", ceph.TagPVCNamespace: "shop"},
	}
	return uuid
}

// snapshot makes one of a volume of anybody.
func (t tenant) snapshot(of string) string {
	uuid := teardowntest.UUID()
	t.journal("snap", uuid, map[string]string{"csi.imagename": "csi-snap-" + uuid, "csi.snapname": "pvc-" + uuid, "csi.source": "csi-vol-" + of})
	t.subvolumes["csi-vol-"+of].snapshots["csi-snap-"+uuid] = &fakeSnapshot{metadata: map[string]string{
		ceph.TagCluster: t.infraID, ceph.TagSnapshot: "s", ceph.TagSnapshotNamespace: "shop", ceph.TagSnapshotContent: "content-" + uuid,
	}}
	return uuid
}

// shallow makes a volume that shows a snapshot.
func (t tenant) shallow(of string) string {
	uuid := teardowntest.UUID()
	t.journal("volume", uuid, map[string]string{
		"csi.imagename": "csi-vol-" + uuid, "csi.volname": "pvc-" + uuid, "csi.volume.owner": "shop", "csi.volume.backingsnapshotid": teardowntest.Handle(of),
	})
	at := [2]string{journalNamespace, teardowntest.Handle(of)}
	tracker, ok := t.references[at]
	if !ok {
		tracker = ceph.RefTracker{Count: 1, Masked: map[string]bool{teardowntest.Handle(of): false}}
	}
	tracker.Count++
	tracker.Masked["csi-vol-"+uuid] = false
	t.references[at] = tracker
	return uuid
}

// clone makes one that is in flight.
func (t tenant) clone(of string) string {
	uuid := teardowntest.UUID()
	t.journal("volume", uuid, map[string]string{"csi.imagename": "csi-vol-" + uuid, "csi.volname": "pvc-" + uuid, "csi.volume.owner": "shop"})
	t.subvolumes["csi-vol-"+uuid] = &fakeSubvolume{state: "pending", metadata: map[string]string{}, snapshots: map[string]*fakeSnapshot{}}
	t.subvolumes["csi-vol-"+of].snapshots["csi-vol-"+uuid] = &fakeSnapshot{metadata: map[string]string{}, copied: true}
	return uuid
}

// deleted is what ceph-csi leaves of a volume that has snapshots.
func (t tenant) deleted(uuid string) {
	delete(t.omaps, [2]string{journalNamespace, "csi.volume." + uuid})
	delete(t.omaps[[2]string{journalNamespace, "csi.volumes.default"}], "csi.volume.pvc-"+uuid)
	s := t.subvolumes["csi-vol-"+uuid]
	s.state, s.metadata = ceph.SubvolumeRetained, map[string]string{}
}
