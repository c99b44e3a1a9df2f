package teardown

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/pools"
	"github.com/openshift/ceph-csi-driver-operator/pkg/presence"
)

// Marks are what a cluster leaves in pools that it uses.
type Marks interface {
	pools.Marker
	presence.Remover
}

// Protections is the part of a cluster's marks that keep pools from removal.
type Protections struct {
	options Options
	ceph    Marks
	kinds   []string
}

// NewProtections returns the part; kinds are those of the drivers.
func NewProtections(o Options, c Marks, kinds []string) *Protections {
	return &Protections{options: o, ceph: c, kinds: kinds}
}

// stays says that something of the cluster stays. Of what is refused without its tag, nobody can read
// whose it is.
func (o Options) stays(d Decision) bool {
	return d.Verdict == Refuse || d.Verdict == Keep && d.Tag == o.InfraID
}

// Find looks for pools with the cluster's mark. They keep it while volumes of the cluster stay.
func (p *Protections) Find(ctx context.Context, before []Decision) (Findings, error) {
	var out Findings
	if strings.TrimSpace(p.options.InfraID) == "" {
		return out, ErrNoInfraID
	}
	all, err := Limited(ctx, p.ceph.Pools)
	if err != nil {
		return out, err
	}
	stays := slices.IndexFunc(before, p.options.stays)
	for _, name := range pools.Marked(all, p.options.InfraID, p.kinds...) {
		item := Item{Kind: Protection, Place: Place{Pool: name}, Name: "nodelete"}
		switch {
		case p.options.limited():
			out.Decisions = append(out.Decisions, item.Decide(Keep, "the run is limited, and leaves volumes of the cluster"))
		case stays >= 0:
			out.Decisions = append(out.Decisions, item.Decide(Keep, fmt.Sprintf("%s %s stays", before[stays].Kind, before[stays].Full())))
		default:
			out.Decisions = append(out.Decisions, item.Decide(Remove, "marked by the operator of this cluster"))
		}
	}
	return out, nil
}

// Remove takes the marks off, and what operators watched. The flag itself goes with the last cluster's mark.
func (p *Protections) Remove(ctx context.Context, agreed []Decision, tell func(Outcome)) error {
	var claimed []string
	for _, d := range agreed {
		claimed = append(claimed, d.Place.Pool)
	}
	note, forgotten := Limited(ctx, func(ctx context.Context) (string, error) {
		return presence.Forget(ctx, p.ceph, p.options.InfraID, claimed, p.kinds...)
	})
	released := Call(ctx, func(ctx context.Context) error { return pools.Release(ctx, p.ceph, p.options.InfraID, p.kinds...) })
	err := errors.Join(forgotten, released)
	var left []string
	if err == nil {
		var all []ceph.Pool
		all, err = Limited(ctx, p.ceph.Pools)
		left = pools.Marked(all, p.options.InfraID, p.kinds...)
	}
	for _, d := range agreed {
		fault := err
		if fault == nil && slices.Contains(left, d.Place.Pool) {
			fault = fmt.Errorf("pool %q still has the mark", d.Place.Pool)
		}
		tell(Outcome{Decision: d, Note: note, Err: fault})
		note = "" // Once is enough.
	}
	return nil
}
