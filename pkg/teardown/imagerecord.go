package teardown

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Recorder keeps what must outlive the process in objects of a pool.
type Recorder interface {
	// ReadRecord returns ErrNotFound where there is none.
	ReadRecord(ctx context.Context, pool, namespace, object string) ([]byte, error)
	WriteRecord(ctx context.Context, pool, namespace, object string, content []byte) error
	RemoveRecord(ctx context.Context, pool, namespace, object string) error
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
	// pools are those with a record.
	pools []string
}

func (r *recorded) read(ctx context.Context, from Recorder, pool ceph.Pool, infraID string) error {
	content, err := from.ReadRecord(ctx, pool.Name, "", recordObject(infraID))
	if errors.Is(err, ceph.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var found imageRecord
	if err := json.Unmarshal(content, &found); err != nil || found.Version != recordVersion {
		return fmt.Errorf("object %s of pool %s is no record of version %d: look at it, and remove it if it is not needed",
			recordObject(infraID), pool.Name, recordVersion)
	}
	for _, i := range found.Images {
		r.images[ceph.ImageRef{PoolID: pool.ID, Namespace: i.Namespace, ID: i.ID}] = i.Name
	}
	for _, g := range found.Groups {
		r.groups[ceph.GroupRef{PoolID: pool.ID, ID: g.ID}] = g.Name
	}
	r.pools = append(r.pools, pool.Name)
	return nil
}

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
	for pool, r := range byPool {
		content, err := json.Marshal(r)
		if err != nil {
			return err
		}
		err = p.patiently(ctx, func(ctx context.Context) error {
			return p.rbd.WriteRecord(ctx, pool, "", recordObject(p.options.InfraID), content)
		})
		if err != nil {
			return fmt.Errorf("nothing was removed: %w", err)
		}
		p.plan.recordedIn = append(p.plan.recordedIn, pool)
	}
	return nil
}

// forget removes the records once they are of no use.
func (p *Images) forget(ctx context.Context, todo imageJobs, needed bool, tell func(Outcome)) error {
	fault := func() error {
		if needed {
			return errors.New("it is needed for what could not be removed")
		}
		for _, pool := range p.plan.recordedIn {
			err := p.patiently(ctx, func(ctx context.Context) error {
				return p.rbd.RemoveRecord(ctx, pool, "", recordObject(p.options.InfraID))
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
func (p *imagePlan) records(infraID string) []Decision {
	var out []Decision
	for _, pool := range p.recordedIn {
		item := Item{Kind: Record, Place: Place{Pool: pool}, Name: recordObject(infraID)}
		out = append(out, Decision{item, Remove, "of no use once everything else is gone"})
	}
	return out
}
