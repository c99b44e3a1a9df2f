package teardown

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// filesRecord says what a run was about to remove from a filesystem, when all of it could still be
// proven. It lies in the metadata pool from before the first deletion until all is gone. Journals and
// shallow volumes carry no tag: once the subvolume or snapshot is gone, only the record tells whose
// they are. What still carries a tag is judged by the tag, whatever the record says.
type filesRecord struct {
	Version int             `json:"version"`
	InfraID string          `json:"infraID"`
	Entries []recordedEntry `json:"entries"`
	// runs are those that it is joined from.
	runs []string
}

// recordedEntry is a volume or snapshot.
type recordedEntry struct {
	Kind Kind   `json:"kind"`
	UUID string `json:"uuid"`
	// Group and Subvolume are where it was; Name is that of the subvolume or snapshot.
	Group     string `json:"group,omitempty"`
	Subvolume string `json:"subvolume,omitempty"`
	Name      string `json:"name"`
}

// filesRecordNamespace keeps the record apart from the filesystem's own objects.
const filesRecordNamespace = "csi.teardown"

func filesRecordObject(infraID string) string { return "csi.teardown.files." + infraID }

// has finds an entry by its UUID.
func (r filesRecord) has(uuid string, kinds ...Kind) bool {
	return uuid != "" && slices.ContainsFunc(r.Entries, func(e recordedEntry) bool {
		return e.UUID == uuid && slices.Contains(kinds, e.Kind)
	})
}

// lacks are the entries of what is to be removed now that no run has written down yet.
func (r filesRecord) lacks(infraID string, agreed []Decision) filesRecord {
	out := filesRecord{Version: RecordVersion, InfraID: infraID}
	for _, d := range agreed {
		e := recordedEntry{Kind: d.Kind, UUID: d.UUID, Group: d.Place.Group, Subvolume: d.Place.Subvolume, Name: d.Name}
		recordable := d.Kind == Subvolume || d.Kind == SubvolumeSnapshot || d.Kind == ShallowVolume
		if recordable && d.UUID != "" && !slices.Contains(r.Entries, e) && !slices.Contains(out.Entries, e) {
			out.Entries = append(out.Entries, e)
		}
	}
	return out
}

// readFilesRecord joins what runs have written down.
func readFilesRecord(ctx context.Context, from Recorder, pool, infraID string) (filesRecord, error) {
	records, err := Limited(ctx, func(ctx context.Context) (map[string][]byte, error) {
		return from.Records(ctx, pool, filesRecordNamespace, filesRecordObject(infraID))
	})
	if err != nil {
		return filesRecord{}, err
	}
	out := filesRecord{Version: RecordVersion, InfraID: infraID}
	for run, content := range records {
		out.runs = append(out.runs, run)
		if content == nil {
			continue
		}
		found, err := parseFilesRecord(content, pool, infraID, run)
		if err != nil {
			return filesRecord{}, err
		}
		out.Entries = append(out.Entries, found.Entries...)
	}
	return out, nil
}

func parseFilesRecord(content []byte, pool, infraID, run string) (filesRecord, error) {
	var found filesRecord
	if err := json.Unmarshal(content, &found); err != nil || found.Version != RecordVersion || found.InfraID != infraID {
		return filesRecord{}, fmt.Errorf("object %s in namespace %s of pool %s is no record of version %d of cluster %q: look at it, and remove it if it is not needed",
			RecordName(filesRecordObject(infraID), run), filesRecordNamespace, pool, RecordVersion, infraID)
	}
	return found, nil
}

func appendFilesRecord(ctx context.Context, to Recorder, pool, run string, r filesRecord) error {
	content, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = Limited(ctx, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, to.AppendRecord(ctx, pool, filesRecordNamespace, filesRecordObject(r.InfraID), run, content)
	})
	if err != nil {
		return fmt.Errorf("nothing was removed: %w", err)
	}
	return nil
}
