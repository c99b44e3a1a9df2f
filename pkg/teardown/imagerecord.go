package teardown

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Recorder keeps what must outlive the process in objects of a pool: one for each run, which nobody
// overwrites.
type Recorder interface {
	// Records reads what runs have written down, by run: nil where one was killed while it wrote or
	// removed that. What a version without runs wrote is under "".
	Records(ctx context.Context, pool, namespace, object string) (map[string][]byte, error)
	// AppendRecord writes down something for a run, once.
	AppendRecord(ctx context.Context, pool, namespace, object, run string, content []byte) error
	RemoveRecords(ctx context.Context, pool, namespace, object string, runs []string) error
}

// newRun names a run, in the order of time.
func newRun(now time.Time) string {
	return now.UTC().Format("20060102T150405Z") + "-" + strings.ToLower(rand.Text()[:8])
}

// imageRecord says what a run was about to remove, when all of it could still be proven. It lies in
// the images' pool from before the first change until all is gone. Whoever goes on after a kill
// knows from it whose the rests are that have lost their tag: trash entries without header, groups
// without images, temporary images without the image that they belong to.
type imageRecord struct {
	Version int             `json:"version"`
	Images  []recordedImage `json:"images"`
	Groups  []recordedImage `json:"groups,omitempty"`
}

type recordedImage struct {
	Namespace string `json:"namespace,omitempty"`
	ID        string `json:"id"`
	Name      string `json:"name"`
}

const recordVersion = 1

// recordObject is the name of the record of a cluster.
func recordObject(infraID string) string { return "csi.teardown.images." + infraID }

// recorded is what the records of all pools say: names by place and ID.
type recorded struct {
	images map[ceph.ImageRef]string
	groups map[ceph.GroupRef]string
	// runs are those that wrote down something, by pool.
	runs map[string][]string
}

func (r *recorded) read(ctx context.Context, from Recorder, pool ceph.Pool, infraID string) error {
	records, err := from.Records(ctx, pool.Name, "", recordObject(infraID))
	if err != nil {
		return err
	}
	for run, content := range records {
		r.runs[pool.Name] = append(r.runs[pool.Name], run)
		if content == nil {
			continue
		}
		var found imageRecord
		if err := json.Unmarshal(content, &found); err != nil || found.Version != recordVersion {
			return fmt.Errorf("object %s of pool %s is no record of version %d: look at it, and remove it if it is not needed",
				recordName(recordObject(infraID), run), pool.Name, recordVersion)
		}
		for _, i := range found.Images {
			r.images[ceph.ImageRef{PoolID: pool.ID, Namespace: i.Namespace, ID: i.ID}] = i.Name
		}
		for _, g := range found.Groups {
			r.groups[ceph.GroupRef{PoolID: pool.ID, ID: g.ID}] = g.Name
		}
	}
	return nil
}

// recordName is the name of the object of one run.
func recordName(object, run string) string { return strings.TrimSuffix(object+"."+run, ".") }

// record writes down what will be removed, before anything is.
func (p *Images) record(ctx context.Context, todo imageJobs) error {
	byPool := map[string]*imageRecord{}
	at := func(pool string) *imageRecord {
		if byPool[pool] == nil {
			byPool[pool] = &imageRecord{Version: recordVersion}
		}
		return byPool[pool]
	}
	for _, level := range todo.levels {
		for _, j := range level {
			i := j.node.image
			r := at(i.Pool)
			r.Images = append(r.Images, recordedImage{i.Namespace, i.ID, i.Name})
		}
	}
	for _, j := range todo.groups {
		g := j.group.group
		r := at(g.Pool)
		r.Groups = append(r.Groups, recordedImage{g.Namespace, g.ID, g.Name})
	}
	p.own = map[string]string{}
	for pool, r := range byPool {
		content, err := json.Marshal(r)
		if err != nil {
			return err
		}
		run := newRun(p.clock.Now())
		err = p.patiently(ctx, func(ctx context.Context) error {
			return p.rbd.AppendRecord(ctx, pool, "", recordObject(p.options.InfraID), run, content)
		})
		if err != nil {
			return fmt.Errorf("nothing was removed: %w", err)
		}
		p.own[pool] = run
	}
	return nil
}

// strikes says that the run removes the records of earlier ones from a pool: it looks after all that
// they name.
func (o Options) strikes(pool string) bool {
	return len(o.Volumes) == 0 && (len(o.Pools) == 0 || slices.Contains(o.Pools, pool))
}

// forget removes the records once they are of no use.
func (p *Images) forget(ctx context.Context, todo imageJobs, needed bool, tell func(Outcome)) error {
	fault := func() error {
		if needed {
			return errors.New("it is needed for what could not be removed")
		}
		runs := map[string][]string{}
		for pool, run := range p.own {
			runs[pool] = append(runs[pool], run)
		}
		for pool, earlier := range p.plan.runs {
			if p.options.strikes(pool) {
				runs[pool] = append(runs[pool], earlier...)
			}
		}
		for pool, which := range runs {
			err := p.patiently(ctx, func(ctx context.Context) error {
				return p.rbd.RemoveRecords(ctx, pool, "", recordObject(p.options.InfraID), which)
			})
			if err != nil {
				return err
			}
		}
		return nil
	}()
	for _, j := range todo.records {
		tell(Outcome{Decision: j.decision, Err: fault})
	}
	if needed || len(todo.records) > 0 {
		return nil
	}
	return fault
}

// records are the decisions on what earlier runs wrote down.
func (p *imagePlan) records(o Options) []Decision {
	var out []Decision
	for _, pool := range slices.Sorted(maps.Keys(p.runs)) {
		if o.strikes(pool) {
			item := Item{Kind: Record, Place: Place{Pool: pool}, Name: recordObject(o.InfraID)}
			out = append(out, Decision{item, Remove, "of no use once everything else is gone"})
		}
	}
	return out
}
