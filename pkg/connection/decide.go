package connection

import (
	"bytes"
	"fmt"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// attempt is a declaration that led nowhere, and why.
type attempt struct {
	data    map[string][]byte
	named   string
	at      time.Time
	verdict verdict
}

// facts is everything that a sync decides on.
type facts struct {
	identity
	data map[string][]byte // of the Secret
	// exists: there is a Secret. fresh: it is not what the live session was made from.
	exists, fresh bool
	// live: there is a session. due: its last poll is long enough ago.
	live, due bool
	// rest: this declaration has just failed.
	rest bool
	// wanted: the driver is to be deployed; decided: that is known.
	wanted, decided bool
}

// steps are what a sync does of what costs Ceph something.
type steps struct{ poll, dial bool }

// decide keeps a session alive whatever happens to the Secret, and tries what is new.
//
//	exists fresh live due rest | poll dial
//	any    any   yes  yes any  | yes  …
//	yes    yes   any  any no   | …    yes
func decide(f facts) steps {
	return steps{
		poll: f.live && f.due,
		dial: f.exists && f.fresh && !f.rest,
	}
}

func (c *Connection[S]) gather() (facts, error) {
	recorded, found, err := c.record.Load()
	if err != nil {
		return facts{}, err
	}
	published, known := c.config.Cluster.Get()
	if !found && known {
		recorded.FSID = published.FSID
	}
	f := facts{
		identity: identity{driver: c.config.Driver, named: c.config.Consent(), recorded: recorded},
	}
	f.wanted, f.decided = c.config.Wanted()
	secret, err := c.config.Secrets.Lister().Secrets(driver.Namespace).Get(SecretName)
	if err != nil && !apierrors.IsNotFound(err) {
		return facts{}, fmt.Errorf("reading %s: %w", where, err)
	}
	if err == nil {
		f.exists, f.data, f.fresh = true, secret.Data, true
	}
	now := c.config.Clock.Now()
	if c.live != nil {
		f.live, f.due = true, now.Sub(c.live.polled) >= pollGap
		f.fresh = f.exists && !sameData(f.data, c.live.data)
	}
	if c.failed != nil && !sameData(f.data, c.failed.data) {
		c.failed = nil
	}
	f.rest = c.failed != nil && c.failed.named == f.named && now.Sub(c.failed.at) < redialInterval
	return f, nil
}

// judge says what the condition is; false while that is not known.
func (c *Connection[S]) judge(f facts) (v verdict, known bool) {
	switch {
	case !f.exists && f.wanted:
		return missing(), true
	case !f.exists:
		return verdict{}, f.decided
	case c.failed != nil:
		return c.failed.verdict, true
	case c.live == nil:
		return verdict{}, false
	case !c.live.silent.bad():
		return c.live.complain, true
	}
	return c.live.silent, c.config.Clock.Since(c.live.answered) >= outage
}

func sameData(a, b map[string][]byte) bool { return maps.EqualFunc(a, b, bytes.Equal) }
