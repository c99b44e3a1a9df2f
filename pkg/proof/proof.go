// Package proof says when what an OpenShift cluster no longer uses may be withdrawn: claims and flags
// of pools, and rights of Ceph users. A cache may be old, a list may fail, a CRD may be gone and an
// etcd may be yesterday's, and none of that is a reason: it takes two looks past all caches, some time
// apart, by one process, with nothing wrong in between.
package proof

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

// fresh is how old the last look may be when something is withdrawn: what has come since is in the
// caches by then.
const fresh = time.Minute

var (
	// ErrNotYet says that the looks there are do not suffice yet.
	ErrNotYet = errors.New("it has yet to be seen twice")
	// ErrBack says that the API server knows less than it did.
	ErrBack = errors.New("the API server's data went back in time, as after a restore of etcd from a backup")
)

// Look is one look at everything that says what is used, past all caches.
type Look struct {
	// At is when it began.
	At time.Time
	// Usage is what is used, in parts.
	Usage []usage.Usage
	// Volumes is how many PersistentVolumes there are, whoever serves them.
	Volumes int
}

// chain are looks without a break between them, the oldest first.
type chain []Look

// with returns the chain after another look. Looks before the last one that is old enough say nothing
// more.
//
//	before           | the look                  | after
//	nothing          | any                       | the look
//	with volumes     | has no volumes            | the look: they may all have gone, or be unread
//	any              | otherwise                 | before, and the look
func (c chain) with(look Look, apart time.Duration) chain {
	if len(c) == 0 || c[len(c)-1].Volumes > 0 && look.Volumes == 0 {
		return chain{look}
	}
	out := append(slices.Clone(c), look)
	return out[max(0, out.start(apart)):]
}

// start is the last look that is old enough beside the newest one; -1 for none.
func (c chain) start(apart time.Duration) int {
	for i := len(c) - 1; i >= 0; i-- {
		if c[len(c)-1].At.Sub(c[i].At) >= apart {
			return i
		}
	}
	return -1
}

// prove returns what was in use in any of the looks that are a proof for something of which no use is
// known since a time.
//
//	the last look    | a look that is old enough | proof
//	none, or stale   | –                         | no
//	fresh            | none                      | no
//	fresh            | before that time          | no
//	fresh            | after it                  | yes
func (c chain) prove(since, now time.Time, apart time.Duration) ([]usage.Usage, bool) {
	start := c.start(apart)
	if start < 0 || c[start].At.Before(since) || now.Sub(c[len(c)-1].At) > fresh {
		return nil, false
	}
	var out []usage.Usage
	for _, look := range c[start:] {
		out = append(out, look.Usage...)
	}
	return out, true
}

// marks are the highest resourceVersions that caches had, by what they hold.
type marks map[string]uint64

// raise takes note of versions. Lower ones than before are an ErrBack, until they are passed: what was
// written since has its numbers again.
func (m marks) raise(versions map[string]uint64) error {
	var err error
	for _, of := range slices.Sorted(maps.Keys(versions)) {
		if was := m[of]; versions[of] < was {
			err = fmt.Errorf("%w: %s are older than resourceVersion %d, which was seen; it goes on when that is passed, or the operator is restarted", ErrBack, of, was)
		}
		m[of] = max(m[of], versions[of])
	}
	return err
}
