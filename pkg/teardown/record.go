package teardown

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"
)

// Recorder keeps what must outlive the process in objects of a pool: one for each run, which nobody
// overwrites.
type Recorder interface {
	// Records reads what runs have written down, by run: nil where one was killed while it wrote or
	// removed that. What a version without runs wrote is under "", and what is left where one was killed that
	// removed the last run.
	Records(ctx context.Context, pool, namespace, object string) (map[string][]byte, error)
	// AppendRecord writes down something for a run, once.
	AppendRecord(ctx context.Context, pool, namespace, object, run string, content []byte) error
	RemoveRecords(ctx context.Context, pool, namespace, object string, runs []string) error
}

// RecordVersion is that of what runs write down.
const RecordVersion = 1

// NewRun names a run, in the order of time.
func NewRun(now time.Time) string {
	return now.UTC().Format("20060102T150405Z") + "-" + strings.ToLower(rand.Text()[:8])
}

// RecordName is the name of the object of one run.
func RecordName(object, run string) string { return strings.TrimSuffix(object+"."+run, ".") }

// EarlierRecord is the decision on what earlier runs wrote down.
func EarlierRecord(at Place, object string) Decision {
	return Item{Kind: Record, Place: at, Name: object}.Decide(Remove, "of no use once everything else is gone")
}

// StrikeRecords calls remove, unless what could not be removed needs the records, and tells of those that
// were agreed on how it went. The error is one that nobody was told.
func StrikeRecords(agreed []Decision, needed bool, remove func() error, tell func(Outcome)) error {
	err := errors.New("it is needed for what could not be removed")
	if !needed {
		err = remove()
	}
	told := needed
	for _, d := range agreed {
		if d.Kind == Record {
			tell(Outcome{Decision: d, Err: err})
			told = true
		}
	}
	if told {
		return nil
	}
	return err
}
