package ceph

import "fmt"

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
	d := decoder{data: reply}
	for n := d.uint32(); n > 0 && d.err == nil; n-- {
		w := Watcher{Client: d.uint64()}
		d.uint64()
		w.Answer = d.take(uint64(d.uint32()))
		out = append(out, w)
	}
	for n := d.uint32(); n > 0 && d.err == nil; n-- {
		out = append(out, Watcher{Client: d.uint64(), Silent: true})
		d.uint64()
	}
	if d.err != nil {
		return nil, fmt.Errorf("reading who watches an object: %w", d.err)
	}
	if len(d.data) > 0 {
		return nil, fmt.Errorf("reading who watches an object: the answer has %d bytes more than it says", len(d.data))
	}
	return out, nil
}
