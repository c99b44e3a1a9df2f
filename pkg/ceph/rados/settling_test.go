//go:build cgo

package rados

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestSilence: what a look at the placement groups says of OSDs that do not answer.
func TestSilence(t *testing.T) {
	const patience = 10 * time.Second
	tests := map[string]struct {
		reason string
		// looks are what is seen one after the other; answered and heard are 0 for never.
		looks           []bool
		answered, heard time.Duration
		refused         bool
		after           time.Duration
	}{
		"Active":      {reason: "nothing else explains it", looks: []bool{true}, refused: true, after: patience},
		"Split":       {reason: "a pool got more placement groups at that moment", looks: []bool{false, true, true}, refused: true, after: 2 * patience},
		"SplitTwice":  {reason: "and another pool", looks: []bool{false, true, false, true, true}, refused: true, after: 3 * patience},
		"Recovered":   {reason: "the answer comes once they are active", looks: []bool{false, true}, answered: 16 * time.Second, after: 16 * time.Second},
		"Outage":      {reason: "it goes on until librados gives up", looks: []bool{false, false, false, false}, answered: 3*patience - 1, after: 3*patience - 1},
		"Answer":      {reason: "in time", answered: time.Second, after: time.Second},
		"HeardBefore": {reason: "the user has caps", looks: []bool{true, true}, heard: time.Minute, answered: 2*patience - 1, after: 2*patience - 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				s := silence{patience: patience}
				if tc.heard > 0 {
					s.heard = begin.Add(-tc.heard)
				}
				answered := make(chan struct{})
				if tc.answered > 0 {
					time.AfterFunc(tc.answered, func() { close(answered) })
				}
				looks := tc.looks
				refused := s.lasts(answered, func() bool {
					if len(looks) == 0 {
						t.Fatalf("another look after %s", time.Since(begin))
					}
					seen := looks[0]
					looks = looks[1:]
					return seen
				})
				if took := time.Since(begin); refused != tc.refused || took != tc.after || len(looks) > 0 {
					t.Errorf("refused %t after %s, looks left %v; want %t after %s: %s", refused, took, looks, tc.refused, tc.after, tc.reason)
				}
			})
		})
	}
}

// TestSettles: one look is not enough while a pool gets more placement groups.
func TestSettles(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		// active is from when on all are.
		active, after time.Duration
		want          bool
	}{
		"Active": {reason: "at once", want: true},
		"Split":  {reason: "seen with 20.2.4: none of a new one's state is known for two seconds", active: 2 * time.Second, after: 2 * time.Second, want: true},
		"Outage": {reason: "that is another cause", active: time.Hour, after: settling},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				got := settles(t.Context(), func(context.Context) bool { return time.Since(begin) >= tc.active })
				if took := time.Since(begin); got != tc.want || took != tc.after {
					t.Errorf("got %t after %s, want %t after %s: %s", got, took, tc.want, tc.after, tc.reason)
				}
			})
		})
	}
}
