package controller

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// planned records when a sync is to run again.
type planned struct{ waits []time.Duration }

func (p *planned) AddAfter(_ any, wait time.Duration) { p.waits = append(p.waits, wait) }

func TestRetry(t *testing.T) {
	refused := errors.New("a webhook refuses")
	for name, tc := range map[string]struct {
		reason    string
		err, want error
		waits     []time.Duration
	}{
		"Well":     {"nothing is to be done again", nil, nil, nil},
		"Conflict": {"nothing is wrong", apierrors.NewConflict(schema.GroupResource{Resource: "deployments"}, "a", refused), nil, []time.Duration{conflictRetry}},
		"Refused":  {"when the webhook is mended, nobody waits for a quarter of an hour", refused, refused, []time.Duration{latestRetry}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &planned{}
			if got := Retry(p, tc.err); !errors.Is(got, tc.want) {
				t.Errorf("%s: got %v, want %v", tc.reason, got, tc.want)
			}
			if diff := cmp.Diff(tc.waits, p.waits); diff != "" {
				t.Errorf("%s: waits (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
