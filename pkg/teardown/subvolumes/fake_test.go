package subvolumes

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown/teardowntest"
)

// fakeFiles is a filesystem in memory, with its journals.
type fakeFiles struct {
	mu         sync.Mutex
	subvolumes map[string]*fakeSubvolume
	// omaps are by RADOS namespace and object, references by namespace and handle.
	omaps      map[[2]string]map[string]string
	references map[[2]string]ceph.RefTracker
	records    map[string][]byte
	clients    []ceph.FileClient
	// blind keeps the filesystem from being mounted; inactive leaves it without MDS.
	blind    error
	inactive bool
	// loading is how often the mgr still answers that it has not loaded its module.
	loading int
	// steps is how many changes are done before the process is killed; negative: no limit.
	steps  int
	writes int
}

type fakeSubvolume struct {
	state     string
	metadata  map[string]string
	snapshots map[string]*fakeSnapshot
}

type fakeSnapshot struct {
	metadata map[string]string
	copied   bool
}

func newFakeFiles() *fakeFiles {
	return &fakeFiles{
		subvolumes: map[string]*fakeSubvolume{}, omaps: map[[2]string]map[string]string{},
		references: map[[2]string]ceph.RefTracker{}, records: map[string][]byte{}, steps: -1,
	}
}

// step does a change, unless the process is dead by then.
func (f *fakeFiles) step(change func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.steps == 0 {
		return fmt.Errorf("%w: %w", ceph.ErrClosed, teardowntest.ErrKilled)
	}
	f.steps--
	f.writes++
	return change()
}

func (f *fakeFiles) FileSystems(context.Context) ([]ceph.FileSystem, error) {
	return []ceph.FileSystem{{ID: 1, Name: "myfs", Active: !f.inactive, MetadataPool: 7}}, nil
}

func (f *fakeFiles) Pools(context.Context) ([]ceph.Pool, error) {
	return []ceph.Pool{{ID: 7, Name: "meta"}}, nil
}

func (f *fakeFiles) Journals(_ context.Context, _ string, namespaces ...string) ([]ceph.JournalPiece, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []ceph.JournalPiece
	for at, omap := range f.omaps {
		if !slices.Contains(namespaces, at[0]) {
			continue
		}
		out = append(out, ceph.JournalPiece{Namespace: at[0], Object: at[1], Omap: maps.Clone(omap)})
	}
	for at := range f.references {
		out = append(out, ceph.JournalPiece{Namespace: at[0], Object: ceph.JournalName{Kind: ceph.JournalReferences, Handle: at[1]}.Object()})
	}
	return out, nil
}

func (f *fakeFiles) RemoveJournal(_ context.Context, _ string, j ceph.Journal) error {
	for _, namespace := range j.Namespaces {
		err := f.step(func() error { delete(f.omaps, [2]string{namespace, j.Name().Object()}); return nil })
		if err != nil {
			return err
		}
	}
	for _, k := range j.Keys {
		err := f.step(func() error { delete(f.omaps[[2]string{k.Namespace, k.Directory}], k.Key); return nil })
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *fakeFiles) References(_ context.Context, _, namespace, handle string) (ceph.RefTracker, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	found, ok := f.references[[2]string{namespace, handle}]
	if !ok {
		return found, ceph.ErrNotFound
	}
	return ceph.RefTracker{Count: found.Count, Masked: maps.Clone(found.Masked)}, nil
}

func (f *fakeFiles) DropReferences(_ context.Context, _, namespace, handle string, volumes []string, all bool) error {
	return f.step(func() error {
		at := [2]string{namespace, handle}
		tracker, ok := f.references[at]
		if !ok {
			return nil
		}
		var gone []string
		tracker.Count, gone, _ = tracker.Drop(volumes)
		for _, key := range gone {
			delete(tracker.Masked, key)
		}
		f.references[at] = tracker
		if _, _, others := tracker.Drop([]string{handle}); all && !others {
			delete(f.references, at)
		}
		return nil
	})
}

func (f *fakeFiles) Records(_ context.Context, _, _, object string) (map[string][]byte, error) {
	out := map[string][]byte{}
	for at, content := range f.records {
		if run, found := strings.CutPrefix(at, object); found {
			out[strings.TrimPrefix(run, ".")] = content
		}
	}
	return out, nil
}

func (f *fakeFiles) AppendRecord(_ context.Context, _, _, object, run string, content []byte) error {
	return f.step(func() error { f.records[teardown.RecordName(object, run)] = content; return nil })
}

func (f *fakeFiles) RemoveRecords(_ context.Context, _, _, object string, runs []string) error {
	for _, run := range runs {
		if err := f.step(func() error { delete(f.records, teardown.RecordName(object, run)); return nil }); err != nil {
			return err
		}
	}
	return nil
}

func (f *fakeFiles) SubvolumeGroups(context.Context, string) ([]string, error) {
	if f.loading > 0 {
		f.loading--
		return nil, &ceph.CommandError{Command: "fs subvolumegroup ls", Errno: -int(syscall.EOPNOTSUPP), Status: "Module 'volumes' is not enabled/loaded"}
	}
	return []string{"csi"}, nil
}

func (f *fakeFiles) Subvolumes(_ context.Context, _, group string) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if group == "" {
		return nil, nil
	}
	return slices.Sorted(maps.Keys(f.subvolumes)), nil
}

// at finds a subvolume, and fails as the mgr does.
func (f *fakeFiles) at(place ceph.SubvolumePlace, states ...string) (*fakeSubvolume, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, ok := f.subvolumes[place.Name]
	switch {
	case !ok:
		return nil, teardowntest.Errno("fs subvolume", syscall.ENOENT)
	case s.state == "broken":
		return nil, teardowntest.Errno("fs subvolume", syscall.EINVAL)
	case slices.Contains(states, s.state):
		return s, nil
	case s.state == ceph.SubvolumeRetained:
		return nil, teardowntest.Errno("fs subvolume", syscall.ENOENT)
	}
	return nil, teardowntest.Errno("fs subvolume", syscall.EAGAIN)
}

func (f *fakeFiles) Subvolume(_ context.Context, place ceph.SubvolumePlace) (ceph.Subvolume, error) {
	s, err := f.at(place, ceph.SubvolumeComplete, ceph.SubvolumeRetained)
	if err != nil {
		return ceph.Subvolume{}, err
	}
	return ceph.Subvolume{Type: "subvolume", State: s.state, Size: 1 << 30}, nil
}

func (f *fakeFiles) SubvolumeMetadata(_ context.Context, place ceph.SubvolumePlace) (map[string]string, error) {
	s, err := f.at(place, ceph.SubvolumeComplete)
	if err != nil {
		return nil, err
	}
	return s.metadata, nil
}

func (f *fakeFiles) SubvolumeSnapshots(_ context.Context, place ceph.SubvolumePlace) ([]string, error) {
	s, err := f.at(place, ceph.SubvolumeComplete, ceph.SubvolumeRetained)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(s.snapshots)), nil
}

func (f *fakeFiles) SnapshotMetadata(_ context.Context, place ceph.SubvolumePlace, name string) (map[string]string, error) {
	s, err := f.at(place, ceph.SubvolumeComplete)
	if err != nil {
		return nil, err
	}
	return s.snapshots[name].metadata, nil
}

func (f *fakeFiles) SnapshotCopied(_ context.Context, place ceph.SubvolumePlace, name string) (bool, error) {
	s, err := f.at(place, ceph.SubvolumeComplete, ceph.SubvolumeRetained)
	if err != nil {
		return false, err
	}
	return s.snapshots[name].copied, nil
}

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
