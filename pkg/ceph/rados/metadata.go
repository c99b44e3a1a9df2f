//go:build cgo

package rados

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"syscall"

	"github.com/ceph/go-ceph/rados"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// How librbd stores an image of format 2 (src/librbd/ImageCtx.cc, src/cls/rbd/cls_rbd.cc): an
// object of the name holds the ID, and one of the ID has the metadata among its omap keys.
const (
	imageIDPrefix  = "rbd_id."
	headerPrefix   = "rbd_header."
	metadataPrefix = "metadata_"
	imageClass     = "rbd"
	// keysAtOnce is what an OSD returns in one answer at most, and more than an image or a journal has.
	keysAtOnce = 1024
)

// ioContext opens a pool. Who only removes does not wait while it is full.
func (c *Conn) ioContext(conn *rados.Conn, pool string) (*rados.IOContext, error) {
	return contextOf(conn, pool, c.removes)
}

// contextOf opens a pool. evenFull is for one that may be full: an OSD takes what frees space or needs none, and
// refuses the rest at once (CEPH_OSD_FLAG_FULL_TRY).
func contextOf(conn *rados.Conn, pool string, evenFull bool) (*rados.IOContext, error) {
	io, err := conn.OpenIOContext(pool)
	if err != nil {
		return nil, failure(openPool, "", err)
	}
	if !evenFull {
		return io, nil
	}
	if err := io.SetPoolFullTry(); err != nil {
		io.Destroy()
		return nil, failure(openPool, "", err)
	}
	return io, nil
}

// in opens a pool for work that needs its objects.
func in[T any](ctx context.Context, c *Conn, pool, namespace string, work func(*rados.IOContext) (T, error)) (T, error) {
	return callOSD(ctx, c, func(conn *rados.Conn) (T, error) {
		io, err := c.ioContext(conn, pool)
		if err != nil {
			var none T
			return none, err
		}
		defer io.Destroy()
		io.SetNamespace(namespace)
		return work(io)
	})
}

// ImageMetadata reads the metadata of an image. It does not open the image, so it is no client
// of it: nobody who uses or removes the image notices.
func (c *Conn) ImageMetadata(ctx context.Context, at ceph.ImagePlace) (ceph.ImageMetadata, error) {
	metadata, err := in(ctx, c, at.Pool, at.Namespace, func(io *rados.IOContext) (ceph.ImageMetadata, error) {
		id, err := imageID(io, at.Name)
		if err != nil {
			return ceph.ImageMetadata{}, err
		}
		keys, err := io.GetOmapValues(headerPrefix+id, "", metadataPrefix, keysAtOnce)
		if err != nil {
			return ceph.ImageMetadata{}, failure("read image header", "", err)
		}
		version, err := io.GetLastVersion()
		if err != nil {
			return ceph.ImageMetadata{}, failure("read image header", "", err)
		}
		out := ceph.ImageMetadata{Values: map[string]string{}, ID: id, Version: version}
		for key, value := range keys {
			out.Values[key[len(metadataPrefix):]] = string(value)
		}
		return out, nil
	})
	if err != nil {
		return ceph.ImageMetadata{}, fmt.Errorf("reading the metadata of image %s: %w", at, err)
	}
	return metadata, nil
}

// imageID reads a length of four bytes, and a text of that length.
func imageID(io *rados.IOContext, name string) (string, error) {
	const lengthBytes, most = 4, 256
	buffer := make([]byte, most)
	n, err := io.Read(imageIDPrefix+name, buffer, 0)
	if err != nil {
		return "", failure("read image ID", "", err)
	}
	if n < lengthBytes || int(binary.LittleEndian.Uint32(buffer)) != n-lengthBytes {
		return "", fmt.Errorf("the object of its ID has %d bytes in no form that librbd writes", n)
	}
	return string(buffer[lengthBytes:n]), nil
}

// ChangeImageMetadata changes all keys at once, unless the image's header is no longer what it
// was when the metadata was read: then it returns ErrChanged. It calls the same class of the
// OSD as librbd does, without opening the image: it takes no lock, does not disturb those who
// have the image mapped, and leaves no event in the journal of a mirrored image.
func (c *Conn) ChangeImageMetadata(ctx context.Context, at ceph.ImagePlace, was ceph.ImageMetadata, change ceph.MetadataChange) error {
	_, err := in(ctx, c, at.Pool, at.Namespace, func(io *rados.IOContext) (struct{}, error) {
		op := rados.CreateWriteOp()
		defer op.Release()
		// Without it, the class would make a header for an image that was removed meanwhile.
		op.AssertExists()
		op.AssertVersion(was.Version)
		if len(change.Set) > 0 {
			op.Exec(imageClass, "metadata_set", encodeMap(change.Set))
		}
		for _, key := range change.Remove {
			op.Exec(imageClass, "metadata_remove", encodeText(nil, key))
		}
		return struct{}{}, changed(op.Operate(io, headerPrefix+was.ID, rados.OperationNoFlag), "change image header")
	})
	if err != nil {
		return fmt.Errorf("changing the metadata of image %s: %w", at, err)
	}
	return nil
}

// changed is ErrChanged where an AssertVersion did not hold, because the version is too new or too old, and
// otherwise the failure of what was done.
func changed(err error, what string) error {
	if err == nil {
		return nil
	}
	switch -number(err) {
	case int(syscall.ERANGE), int(syscall.EOVERFLOW):
		return ceph.ErrChanged
	}
	return failure(what, "", err)
}

// encodeMap is Ceph's form of a map from texts to bytes.
func encodeMap(values map[string]string) []byte {
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(values)))
	for _, key := range slices.Sorted(maps.Keys(values)) {
		out = encodeText(encodeText(out, key), values[key])
	}
	return out
}

func encodeText(out []byte, text string) []byte {
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(text))), text...)
}

// JournalEntry reads the keys of an object of ceph-csi's journals.
func (c *Conn) JournalEntry(ctx context.Context, pool, namespace, object string) (map[string]string, error) {
	keys, err := in(ctx, c, pool, namespace, func(io *rados.IOContext) (map[string]string, error) {
		keys, err := io.GetOmapValues(object, "", "", keysAtOnce)
		if err != nil {
			return nil, failure("read journal", "", err)
		}
		return texts(keys), nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading %s in pool %q: %w", object, pool, err)
	}
	return keys, nil
}
