package subvolumes

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// record says what a run was about to remove from a filesystem, when all of it could still be
// proven. It lies in the metadata pool from before the first deletion until all is gone. Journals and
// shallow volumes carry no tag: once the subvolume or snapshot is gone, only the record tells whose
// they are. What still carries a tag is judged by the tag, whatever the record says.
type record struct {
	Version int             `json:"version"`
	InfraID string          `json:"infraID"`
	Entries []recordedEntry `json:"entries"`
	// runs are those that it is joined from.
	runs []string
}

// recordedEntry is a volume, a snapshot, or the journal of a group of snapshots.
type recordedEntry struct {
	Kind teardown.Kind `json:"kind"`
	UUID string        `json:"uuid"`
	// Group and Subvolume are where it was; Name is that of the subvolume or snapshot.
	Group     string `json:"group,omitempty"`
	Subvolume string `json:"subvolume,omitempty"`
	Name      string `json:"name"`
}

// recordNamespace keeps the record apart from the filesystem's own objects.
const recordNamespace = "csi.teardown"

func recordObject(infraID string) string { return "csi.teardown.files." + infraID }

// has finds an entry by its UUID.
func (r record) has(uuid string, kinds ...teardown.Kind) bool {
	return uuid != "" && slices.ContainsFunc(r.Entries, func(e recordedEntry) bool {
		return e.UUID == uuid && slices.Contains(kinds, e.Kind)
	})
}

// lacks are the entries of what is to be removed now that no run has written down yet.
func (r record) lacks(infraID string, agreed []teardown.Decision) record {
	out := record{Version: teardown.RecordVersion, InfraID: infraID}
	for _, d := range agreed {
		e := recordedEntry{Kind: d.Kind, UUID: d.UUID, Group: d.Place.Group, Subvolume: d.Place.Subvolume, Name: d.Name}
		name, _ := ceph.ParseJournalName(d.Name)
		recordable := d.Kind == teardown.Subvolume || d.Kind == teardown.SubvolumeSnapshot || d.Kind == teardown.ShallowVolume ||
			d.Kind == teardown.Journal && name.Kind == ceph.JournalGroup
		if recordable && d.UUID != "" && !slices.Contains(r.Entries, e) && !slices.Contains(out.Entries, e) {
			out.Entries = append(out.Entries, e)
		}
	}
	return out
}

// readRecords joins what runs have written down.
func readRecords(ctx context.Context, from teardown.Recorder, pool, infraID string) (record, error) {
	records, err := teardown.Limited(ctx, func(ctx context.Context) (map[string][]byte, error) {
		return from.Records(ctx, pool, recordNamespace, recordObject(infraID))
	})
	if err != nil {
		return record{}, err
	}
	out := record{Version: teardown.RecordVersion, InfraID: infraID}
	for run, content := range records {
		out.runs = append(out.runs, run)
		if content == nil {
			continue
		}
		found, err := parseRecord(content, pool, infraID, run)
		if err != nil {
			return record{}, err
		}
		out.Entries = append(out.Entries, found.Entries...)
	}
	return out, nil
}

func parseRecord(content []byte, pool, infraID, run string) (record, error) {
	var found record
	if err := json.Unmarshal(content, &found); err != nil || found.Version != teardown.RecordVersion || found.InfraID != infraID {
		return record{}, fmt.Errorf("object %s in namespace %s of pool %s is no record of version %d of cluster %q: look at it, and remove it if it is not needed",
			teardown.RecordName(recordObject(infraID), run), recordNamespace, pool, teardown.RecordVersion, infraID)
	}
	return found, nil
}

func appendRecord(ctx context.Context, to teardown.Recorder, pool, run string, r record) error {
	content, err := json.Marshal(r)
	if err != nil {
		return err
	}
	err = teardown.Call(ctx, func(ctx context.Context) error {
		return to.AppendRecord(ctx, pool, recordNamespace, recordObject(r.InfraID), run, content)
	})
	if err != nil {
		return fmt.Errorf("nothing was removed: %w", err)
	}
	return nil
}
