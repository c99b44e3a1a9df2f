package teardown

import (
	"bytes"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

func TestProgress(t *testing.T) {
	tests := map[string]struct {
		terminal bool
		pause    time.Duration
		want     string
	}{
		"Terminal": {true, time.Second, "\r[##########....................] 1/3, 1.0/s, 2s left\x1b[K" +
			"\r[####################..........] 2/3, 1.0/s, 1s left, 1 failed\x1b[K\r[####################..........] 2/3, 1.0/s, 1s left, 1 failed\x1b[K\n"},
		"Log":      {false, 10 * time.Second, "removing 3 items, 2 GiB in all\n1/3, 0.1/s, 20s left\n2/3, 0.1/s, 10s left, 1 failed\n2/3, 0.1/s, 10s left, 1 failed\n"},
		"QuickLog": {false, time.Second, "removing 3 items, 2 GiB in all\n2/3, 1.0/s, 1s left, 1 failed\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			now := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
			p := NewProgress(&out, tc.terminal, now)
			p.Start(3, 2<<30)
			now.SetTime(now.Now().Add(tc.pause))
			p.Step(Outcome{})
			now.SetTime(now.Now().Add(tc.pause))
			p.Step(Outcome{Err: errBoom})
			p.End()
			if out.String() != tc.want {
				t.Errorf("got  %q\nwant %q", out.String(), tc.want)
			}
		})
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 B", 1023: "1023 B", 1 << 10: "1 KiB", 64 << 20: "64 MiB", 3 << 29: "1.5 GiB", 1 << 60: "1 EiB"} {
		if got := bytesText(n); got != want {
			t.Errorf("%d bytes are %q, want %q", n, got, want)
		}
	}
	if got := plural(2, "journal entry"); !strings.HasSuffix(got, "entries") {
		t.Errorf("got %q", got)
	}
}
