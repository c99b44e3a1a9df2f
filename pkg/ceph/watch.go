package ceph

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Watch is one that is held.
type Watch interface {
	// Lost is why Ceph no longer counts it; nil while it does.
	Lost() error
	// End ends it, and may be called again. Where Ceph is silent, it does not wait for that.
	End()
}

// Watcher is a client of Ceph that watches an object.
type Watcher struct {
	// Client is its number, as in client.4123.
	Client uint64
	// Answer is what it said when it was asked.
	Answer []byte
	// Silent says that it did not: it hangs, or has died less than 30 seconds ago.
	Silent bool
}

// ParseWatchers reads what rados_notify2 returns: the number of clients that answered, as 32 bits, and
// for each its number, a cookie, each of 64 bits, the length of its answer and the answer; then as much
// without answers of those that did not. All is little-endian.
func ParseWatchers(reply []byte) ([]Watcher, error) {
	var out []Watcher
	r := watcherReader{rest: reply}
	for n := r.uint32(); n > 0 && !r.short; n-- {
		w := Watcher{Client: r.uint64()}
		r.uint64()
		w.Answer = r.bytes(r.uint32())
		out = append(out, w)
	}
	for n := r.uint32(); n > 0 && !r.short; n-- {
		out = append(out, Watcher{Client: r.uint64(), Silent: true})
		r.uint64()
	}
	if r.short {
		return nil, errors.New("reading who watches an object: the answer is cut off")
	}
	if len(r.rest) > 0 {
		return nil, fmt.Errorf("reading who watches an object: the answer has %d bytes more than it says", len(r.rest))
	}
	return out, nil
}

type watcherReader struct {
	rest  []byte
	short bool
}

func (r *watcherReader) bytes(n uint32) []byte {
	if uint64(n) > uint64(len(r.rest)) {
		r.short, r.rest = true, nil
		return nil
	}
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out
}

func (r *watcherReader) uint32() uint32 {
	const size = 4
	if b := r.bytes(size); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *watcherReader) uint64() uint64 {
	const size = 8
	if b := r.bytes(size); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}
