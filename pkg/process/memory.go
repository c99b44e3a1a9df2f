package process

import (
	"context"
	"math"
	"runtime/debug"
	"time"
)

// Settings of the garbage collector. A start allocates much and keeps little. Collecting less
// often then, at 400 %, takes about as much CPU, and leaves what is kept scattered among more that
// is not: 2 to 3 MB of private memory for good. After the start a little CPU buys private memory:
// with 20,000 PersistentVolumes the process needs half of what Go's defaults take. The limit is for
// the start alone: a cluster with so many objects that it is reached later would have the collector
// run without end.
const (
	startTime  = 10 * time.Second
	gcPercent  = 10
	startLimit = 60 << 20 // bytes
	// restTime is how often what is free is given back: what a list of thousands of objects took, or a burst of changes.
	// Go's own collector leaves it with who allocates nothing any more. `make soak-load` measures it: with a minute, up to
	// 10 MB lay about in between.
	restTime = 15 * time.Second
)

// limitMemory does so from the start until ctx ends; start is how long that takes.
func limitMemory(ctx context.Context, start, rest time.Duration) {
	debug.SetMemoryLimit(startLimit)
	time.AfterFunc(start, func() {
		debug.SetGCPercent(gcPercent)
		debug.SetMemoryLimit(math.MaxInt64)
		// Pools of buffers survive a first collection.
		debug.FreeOSMemory()
		debug.FreeOSMemory()
		go giveBack(ctx, rest)
	})
}

func giveBack(ctx context.Context, rest time.Duration) {
	ticker := time.NewTicker(rest)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			debug.FreeOSMemory()
		}
	}
}
