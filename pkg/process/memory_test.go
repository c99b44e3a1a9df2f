package process

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// TestMemoryGivenBack has a process that has listed thousands of objects anew, and then rests, hold no more than before:
// Go's own collector leaves the most that it ever needed with a process that allocates nothing any more.
func TestMemoryGivenBack(t *testing.T) {
	limitMemory(t.Context(), time.Millisecond, 100*time.Millisecond)
	t.Cleanup(func() {
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(math.MaxInt64)
	})
	before := private(t)
	const lists, size = 256, 1 << 20
	var held [][]byte
	for range lists {
		list := make([]byte, size)
		for i := 0; i < size; i += os.Getpagesize() {
			list[i] = 1
		}
		held = append(held, list)
	}
	if most := private(t) - before; most < lists*size/2 {
		t.Fatalf("%d lists are %d bytes", len(held), most)
	}
	held = nil
	left := 0
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 15*time.Second, true, func(context.Context) (bool, error) {
		left = private(t) - before
		return left < lists*size/4, nil
	})
	if err != nil {
		t.Errorf("%d bytes are held for nothing: %v", left, err)
	}
}

// private is the process's memory that is nobody else's, in bytes.
func private(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "RssAnon:")
	kibibytes, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kibibytes << 10
}
