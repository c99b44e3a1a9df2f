package process

import (
	"fmt"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTakePorts(t *testing.T) {
	all := func(int) bool { return true }
	tests := map[string]struct {
		reason string
		pid    int
		before int
		free   func(int) bool
		want   []int
		fails  bool
	}{
		"Block":     {reason: "the process number chooses where the search starts", pid: 2, free: all, want: []int{20128, 20129}},
		"Continues": {reason: "one program never gets a port twice", pid: 2, before: 3, free: all, want: []int{20131, 20132}},
		"Taken":     {reason: "ports in use are passed over", pid: 0, free: func(p int) bool { return p%2 == 1 }, want: []int{20001, 20003}},
		"Wraps":     {reason: "the last block continues in the first", pid: 189, before: 63, free: all, want: []int{32159, 20000}},
		"None":      {reason: "an exhausted range is an error, not a loop", free: func(int) bool { return false }, fails: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := portCursor{next: tc.before}
			got, err := c.take(2, tc.pid, tc.free)
			if (err != nil) != tc.fails {
				t.Fatalf("%s: error %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s:\n%s", tc.reason, diff)
			}
		})
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
