//go:build cgo

package rados

import (
	"context"
	"errors"
	"fmt"

	"github.com/ceph/go-ceph/rados"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// evenIfFull is for the little that a removal has to write before it makes room, and for the sign that a cluster lives: OSDs
// take it until they are within some percent of their last byte (osd_failsafe_full_ratio), from whoever may write.
const evenIfFull = rados.OperationFullForce

// Records reads what AppendRecord wrote, by run; nil is of a run that was killed while it wrote or removed
// its own. An object of that name with content of its own, from before there were runs, is under "", and so,
// as nil, is one that has nothing any more. Where there is none, nothing is returned.
func (c *Conn) Records(ctx context.Context, pool, namespace, object string) (map[string][]byte, error) {
	records, err := in(ctx, c, pool, namespace, func(io *rados.IOContext) (map[string][]byte, error) {
		out := map[string][]byte{}
		whole, err := readWhole(io, object)
		if errors.Is(err, ceph.ErrNotFound) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if len(whole) > 0 {
			out[""] = whole
		}
		runs, err := readOmap(io, object)
		if err != nil {
			return nil, err
		}
		for run := range runs {
			content, err := readWhole(io, object+"."+run)
			if err != nil && !errors.Is(err, ceph.ErrNotFound) {
				return nil, err
			}
			out[run] = content
		}
		if len(out) == 0 {
			out[""] = nil // Whoever removed the last run was killed before it removed the object.
		}
		return out, nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading object %s/%s of pool %q: %w", namespace, object, pool, err)
	}
	return records, nil
}

func readWhole(io *rados.IOContext, object string) ([]byte, error) {
	stat, err := io.Stat(object)
	if err != nil {
		return nil, failure("stat "+object, "", err)
	}
	content := make([]byte, stat.Size)
	if stat.Size == 0 {
		return content, nil
	}
	n, err := io.Read(object, content, 0)
	if err != nil {
		return nil, failure("read "+object, "", err)
	}
	if n != len(content) {
		return nil, errors.New("the object changes while it is read")
	}
	return content, nil
}

// AppendRecord writes the name of a run into the omap of the object by which Records finds it, and then an
// object of its own, in one step: whoever is killed between the two leaves nothing that nobody finds. One
// that is there is an error, and an empty one is refused.
func (c *Conn) AppendRecord(ctx context.Context, pool, namespace, object, run string, content []byte) error {
	if len(content) == 0 || run == "" {
		return fmt.Errorf("writing object %s/%s of pool %q: nothing to write", namespace, object, pool)
	}
	_, err := in(ctx, c, pool, namespace, func(io *rados.IOContext) (struct{}, error) {
		index := rados.CreateWriteOp()
		defer index.Release()
		index.SetOmap(map[string][]byte{run: {}})
		if err := index.Operate(io, object, evenIfFull); err != nil {
			return struct{}{}, failure("write omap of "+object, "", err)
		}
		op := rados.CreateWriteOp()
		defer op.Release()
		op.Create(rados.CreateExclusive)
		op.WriteFull(content)
		if err := op.Operate(io, object+"."+run, evenIfFull); err != nil {
			return struct{}{}, failure("write "+object+"."+run, "", err)
		}
		return struct{}{}, nil
	})
	if err != nil {
		return fmt.Errorf("writing object %s/%s of pool %q: %w", namespace, object, pool, err)
	}
	return nil
}

// RemoveRecords removes those of runs; what is missing is no error. Those of others stay.
func (c *Conn) RemoveRecords(ctx context.Context, pool, namespace, object string, runs []string) error {
	_, err := in(ctx, c, pool, namespace, func(io *rados.IOContext) (struct{}, error) {
		return struct{}{}, removeRecords(io, object, runs)
	})
	if err != nil && !errors.Is(err, ceph.ErrNotFound) {
		return fmt.Errorf("removing object %s/%s of pool %q: %w", namespace, object, pool, err)
	}
	return nil
}

func removeRecords(io *rados.IOContext, object string, runs []string) error {
	for _, run := range runs {
		if run == "" {
			if err := io.Truncate(object, 0); err != nil && !missing(err) {
				return failure("truncate "+object, "", err)
			}
			continue
		}
		if err := io.Delete(object + "." + run); err != nil && !missing(err) {
			return failure("remove "+object+"."+run, "", err)
		}
		if err := io.RmOmapKeys(object, []string{run}); err != nil && !missing(err) {
			return failure("write omap of "+object, "", err)
		}
	}
	return removeIndex(io, object)
}

// removeIndex removes the object that has the names of runs, once it has none, unless one comes meanwhile.
func removeIndex(io *rados.IOContext, object string) error {
	stat, err := io.Stat(object)
	if err != nil {
		return failure("stat "+object, "", err)
	}
	left, err := readOmap(io, object)
	if err != nil || len(left) > 0 || stat.Size > 0 {
		return err
	}
	version, err := io.GetLastVersion()
	if err != nil {
		return failure("read "+object, "", err)
	}
	if version == 0 {
		return nil // Somebody else has removed it.
	}
	op := rados.CreateWriteOp()
	defer op.Release()
	op.AssertVersion(version)
	op.Remove()
	if err := changed(op.Operate(io, object, rados.OperationNoFlag), "remove "+object); !errors.Is(err, ceph.ErrChanged) {
		return err
	}
	return nil
}
