package ceph

import (
	"encoding/binary"
	"errors"
	"time"
)

// errCutOff says that an encoded value ends too early.
var errCutOff = errors.New("the encoded value is cut off")

// decoder reads Ceph's encoding of values: little-endian numbers, strings with their length in
// front, and structures with version and length. The first error stays; values after it are zero.
type decoder struct {
	data []byte
	err  error
}

func (d *decoder) take(n uint64) []byte {
	if d.err == nil && n > uint64(len(d.data)) {
		d.err, d.data = errCutOff, nil
	}
	if d.err != nil {
		return nil
	}
	out := d.data[:n]
	d.data = d.data[n:]
	return out
}

func (d *decoder) uint8() uint8 {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uint32() uint32 {
	if b := d.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if b := d.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (d *decoder) string() string { return string(d.take(uint64(d.uint32()))) }

// time is seconds and nanoseconds since 1970; zero is none.
func (d *decoder) time() time.Time {
	seconds, nanoseconds := d.uint32(), d.uint32()
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(int64(seconds), int64(nanoseconds)).UTC()
}

// structure reads a header and returns the structure's version, the oldest version that can read
// it, and what is in it: versions to come only add at the end.
func (d *decoder) structure() (version, compatible uint8, inner *decoder) {
	version, compatible = d.uint8(), d.uint8()
	inner = &decoder{data: d.take(uint64(d.uint32())), err: d.err}
	return version, compatible, inner
}

// after takes over the error of a structure that was read.
func (d *decoder) after(inner *decoder) {
	if d.err == nil {
		d.err = inner.err
	}
}
