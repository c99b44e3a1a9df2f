package tags

import (
	"testing"
	"time"
)

const volumes = 20000

func full() book {
	b := newBook(time.Unix(0, 0))
	b.begin()
	for i := range uint64(volumes) {
		b.find(i*0x9ae16a3b2f90404f, b.start)
		b.put(i*0x9ae16a3b2f90404f, "f", tagged, b.start, problem{})
	}
	return b
}

func TestWhatHasGoneIsForgotten(t *testing.T) {
	b := full()
	if b.count("f")[tagged] != volumes {
		t.Errorf("there are %v", b.count("f"))
	}
	b.begin()
	b.find(0, b.start)
	b.end(b.start)
	if b.count("f")[tagged] != 1 || len(b.entries) != 1 {
		t.Errorf("of volumes that have gone, there are %v", b.count("f"))
	}
	if due := b.start.Add(24 * time.Hour); !b.nextDue.Equal(due) {
		t.Errorf("the next look is at %v, want %v", b.nextDue, due)
	}
	b.begin()
	if !b.find(0, b.start.Add(24*time.Hour)) || b.find(0, b.start.Add(23*time.Hour)) {
		t.Error("a volume is looked at again after a day, no sooner")
	}
}

// TestForgottenAndGone: of a volume that was to be looked at again, and has gone before, nobody is told any more.
func TestForgottenAndGone(t *testing.T) {
	b := newBook(time.Unix(0, 0))
	b.begin()
	b.find(1, b.start)
	b.put(1, "f", missing, b.start, problem{text: "it does not exist"})
	b.begin()
	b.forget(1)
	b.find(1, b.start)
	b.end(b.start)
	b.begin()
	b.end(b.start)
	if len(b.problems) > 0 {
		t.Errorf("problems %+v", b.problems)
	}
}

// BenchmarkBook shows what 20,000 volumes that are as they should be cost.
func BenchmarkBook(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if known := full(); len(known.entries) != volumes {
			b.Fatal(len(known.entries))
		}
	}
}
