package process

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTakePorts(t *testing.T) {
	all := func(int) bool { return true }
	odd := func(n int) bool { return n%2 == 1 }
	none := func(int) bool { return false }
	tests := map[string]struct {
		reason string
		pid    int
		before int
		claim  func(block int) bool
		free   func(port int) bool
		want   []int
		fails  bool
	}{
		"Block":     {reason: "the process number chooses where the search starts", pid: 2, claim: all, free: all, want: []int{20128, 20129}},
		"Continues": {reason: "one program never gets a port twice", pid: 2, before: 3, claim: all, free: all, want: []int{20131, 20132}},
		"Taken":     {reason: "ports in use are passed over", pid: 0, claim: all, free: odd, want: []int{20001, 20003}},
		"Claimed":   {reason: "what another program may use soon is not free either", pid: 2, claim: odd, free: all, want: []int{20192, 20193}},
		"UsedUp":    {reason: "the next block may be another program's", pid: 1, before: 63, claim: odd, free: all, want: []int{20127, 20192}},
		"Wraps":     {reason: "the last block continues in the first", pid: 189, before: 63, claim: all, free: all, want: []int{32159, 20000}},
		"None":      {reason: "an exhausted range is an error, not a loop", claim: all, free: none, fails: true},
		"AllTaken":  {reason: "so many programs are an error", claim: none, free: all, fails: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var c portCursor
			if _, err := c.take(tc.before, tc.pid, tc.claim, tc.free); err != nil {
				t.Fatal(err)
			}
			got, err := c.take(2, tc.pid, tc.claim, tc.free)
			if (err != nil) != tc.fails {
				t.Fatalf("%s: error %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestClaimIsExclusive: the kernel does not tell two programs from two calls.
func TestClaimIsExclusive(t *testing.T) {
	block := blocks + int(time.Now().UnixNano()) // of no cluster, and of no other run
	if !claim(block) || claim(block) {
		t.Error("want the first to have it, and the second not")
	}
}

func TestFreePortsAreFree(t *testing.T) {
	got, err := FreePorts(8)
	if err != nil {
		t.Fatal(err)
	}
	for _, port := range got {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
}
