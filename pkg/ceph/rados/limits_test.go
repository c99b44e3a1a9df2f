//go:build cgo

package rados

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// TestMountTimeout: librados must give up early enough for the probes that tell a wrong key
// from dead mons.
func TestMountTimeout(t *testing.T) {
	tests := map[string]struct {
		left, wish, want time.Duration
	}{
		"NoDeadline":     {0, 0, 15 * time.Second},
		"FarDeadline":    {time.Minute, 0, 15 * time.Second},
		"NearDeadline":   {10*time.Second + time.Millisecond*500, 0, 7 * time.Second},
		"AlmostOver":     {time.Second, 0, time.Second},
		"Wish":           {time.Minute, 5 * time.Second, 5 * time.Second},
		"WishIsTooLong":  {10*time.Second + time.Millisecond*500, 20 * time.Second, 7 * time.Second},
		"WishNoDeadline": {0, 2 * time.Second, 2 * time.Second},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			if test.left > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, test.left)
				defer cancel()
			}
			if got := mountTimeout(ctx, test.wish); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestAlone(t *testing.T) {
	got := alone([]ceph.Address{{Protocol: ceph.V1, IP: "::1", Port: 6789}, {Protocol: ceph.Any, IP: "10.0.0.1", Port: 7000}})
	want := []ceph.Address{
		{Protocol: ceph.V1, IP: "::1", Port: 6789},
		{Protocol: ceph.V2, IP: "10.0.0.1", Port: 7000},
		{Protocol: ceph.V1, IP: "10.0.0.1", Port: 7000},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := alone(make([]ceph.Address, 50)); len(got) != maxProbes {
		t.Errorf("%d probes, want %d at most", len(got), maxProbes)
	}
}

// TestInitial: librados names addresses by one character and aborts the process at the 257th.
func TestInitial(t *testing.T) {
	var many []ceph.Address
	for i := range uint16(300) {
		many = append(many, ceph.Address{Protocol: ceph.V2, IP: "10.0.0.1", Port: 1000 + i})
	}
	if got := initial(append(many[:2:2], many...)); len(got) != ceph.MaxAddresses || got[2] != many[2] {
		t.Errorf("%d addresses, of which the third is %v", len(got), got[2])
	}
	if got := initial(many[:3]); len(got) != 3 {
		t.Errorf("few addresses became %v", got)
	}
}

func TestOptionsAreWholeSeconds(t *testing.T) {
	for wish, want := range map[time.Duration]string{
		0: "15", time.Millisecond: "1", time.Second: "1", 1500 * time.Millisecond: "2", time.Minute: "60",
	} {
		if got := seconds(wish, defaultMount); got != want {
			t.Errorf("%s: got %s, want %s", wish, got, want)
		}
	}
}
