package teardown

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/infraid"
)

// Nobody is an infra ID that no cluster has: parts that look for it find what carries tags, of whomever.
const Nobody = "-"

// ClusterUse is what one infra ID has in a Ceph cluster.
type ClusterUse struct {
	InfraID string `json:"infraID"`
	// Claims are the pools that a driver of the cluster has claimed, as "pool (driver)".
	Claims []string `json:"claims,omitempty"`
	// Tagged is how many volumes and snapshots carry the tag.
	Tagged int `json:"tagged"`
	// Users are the cephx users that were made for it, sorted.
	Users []string `json:"users,omitempty"`
	// Connected are hosts whose clients are connected as one of the cluster's users just now.
	Connected []string `json:"connected,omitempty"`
	// Running are its operators that run just now, where it has claims.
	Running []string `json:"running,omitempty"`
	// LastSeen is when an operator of it was last seen to run, where it has claims: up to a day before it
	// ended. It is now where one runs, and zero where nothing tells.
	LastSeen time.Time `json:"lastSeen,omitzero"`
}

// ListCeph is what List reads.
type ListCeph interface {
	Watchers
	LastWatched(ctx context.Context, pool, object string) (time.Time, error)
	Sessions(ctx context.Context) ([]ceph.Session, error)
	UserIDs(ctx context.Context) ([]string, error)
}

// List tells every infra ID that has a claim, a tag, a user or a client in a Ceph cluster. parts look for Nobody.
func List(ctx context.Context, c ListCeph, parts []Part, now time.Time) ([]ClusterUse, error) {
	uses := map[string]*ClusterUse{}
	of := func(infraID string) *ClusterUse {
		if uses[infraID] == nil {
			uses[infraID] = &ClusterUse{InfraID: infraID}
		}
		return uses[infraID]
	}
	pools, err := Limited(ctx, c.Pools)
	if err != nil {
		return nil, err
	}
	for infraID, claims := range claimsIn(pools) {
		use := of(infraID)
		use.Claims = claims
		if use.Running, err = runningIn(ctx, c, pools, infraID); err != nil {
			return nil, err
		}
		use.LastSeen = now
		if len(use.Running) == 0 {
			use.LastSeen, err = lastSeen(ctx, c, pools, infraID)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, part := range parts {
		found, err := part.Find(ctx, nil)
		if err != nil {
			return nil, err
		}
		for infraID, n := range found.Tags {
			of(infraID).Tagged += n
		}
	}
	if err := listUsers(ctx, c, of); err != nil {
		return nil, err
	}
	var out []ClusterUse
	for _, infraID := range slices.Sorted(maps.Keys(uses)) {
		out = append(out, *uses[infraID])
	}
	return out, nil
}

// listUsers adds the users, and the hosts of clients that are connected as one of them.
func listUsers(ctx context.Context, c ListCeph, of func(infraID string) *ClusterUse) error {
	ids, err := Limited(ctx, c.UserIDs)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(slices.Values(ids)) {
		if infraID, is := madeFor(id); is {
			of(infraID).Users = append(of(infraID).Users, "client."+id)
		}
	}
	sessions, err := Limited(ctx, c.Sessions)
	if err != nil {
		return err
	}
	for _, s := range sessions {
		if infraID, is := madeFor(strings.TrimPrefix(s.Entity, "client.")); is {
			use := of(infraID)
			use.Connected = slices.Compact(slices.Sorted(slices.Values(append(use.Connected, host(s)))))
		}
	}
	return nil
}

// madeFor is the infra ID in the name of a user that an operator made.
func madeFor(id string) (string, bool) {
	for _, d := range driver.All {
		for _, prefix := range []string{d.ProvisionerUser(""), d.NodeUser("")} {
			if infraID, is := strings.CutPrefix(id, prefix); is {
				return infraID, infraid.Check(infraID) == nil
			}
		}
	}
	return "", false
}

// claimsIn are the claims on pools, by infra ID, sorted.
func claimsIn(all []ceph.Pool) map[string][]string {
	out := map[string][]string{}
	for _, p := range all {
		for _, keys := range p.Metadata {
			for key := range keys {
				claim, is := strings.CutPrefix(key, driver.ClaimPrefix)
				dot := strings.LastIndex(claim, ".")
				if !is || dot < 1 {
					continue
				}
				text := fmt.Sprintf("%s (%s)", p.Name, claim[dot+1:])
				if infraID := claim[:dot]; !slices.Contains(out[infraID], text) {
					out[infraID] = append(out[infraID], text)
				}
			}
		}
	}
	for _, claims := range out {
		slices.Sort(claims)
	}
	return out
}

// ErrUnclaimed says that an infra ID has no claim though others have, which may be a slip.
var ErrUnclaimed = errors.New("nothing is removed by an infra ID without a claim")

// Unclaimed is an ErrUnclaimed for who names such an infra ID.
func Unclaimed(pools []ceph.Pool, infraID string) error {
	claims := claimsIn(pools)
	if len(claims) == 0 || claims[infraID] != nil {
		return nil
	}
	return fmt.Errorf("%w: no pool has one of cluster %q; there are claims of %s (--list tells more). A cluster that is older than claims, "+
		"or whose operators were uninstalled, has none: --unclaimed goes on", ErrUnclaimed, infraID, strings.Join(slices.Sorted(maps.Keys(claims)), ", "))
}

// WriteList shows a list.
func WriteList(w io.Writer, uses []ClusterUse, asJSON bool) error {
	if asJSON {
		text, err := json.MarshalIndent(uses, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "%s\n", text)
		return err
	}
	var out strings.Builder
	for _, u := range uses {
		out.WriteString(ceph.OneLine(fmt.Sprintf("%s: %d volumes and snapshots; claims: %s; users: %s; connected: %s; running: %s; last seen: %s",
			u.InfraID, u.Tagged, orNone(u.Claims), orNone(u.Users), orNone(u.Connected), orNone(u.Running), u.seen())) + "\n")
	}
	if len(uses) == 0 {
		out.WriteString("No cluster has a claim, a tag, a user or a connected client here.\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// seen is when the cluster was last seen, for people.
func (u ClusterUse) seen() string {
	switch {
	case len(u.Running) > 0:
		return "now"
	case u.LastSeen.IsZero():
		return "unknown"
	}
	return u.LastSeen.UTC().Format(time.RFC3339)
}

func orNone(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}
