//go:build cgo

package rados

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/ceph/go-ceph/rados"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// ask sends a command to the mgr on a connection that is open already.
type ask func(prefix string, args arguments) ([]byte, error)

// managed lets work send several commands to the mgr over one connection, as mgr sends one. Work
// goes on after ctx has ended if its command is not answered; it sends no other one then.
func managed[T any](ctx context.Context, c *Conn, work func(ask) (T, error)) (T, error) {
	var none T
	monmap, err := c.MonMap(ctx)
	if err != nil {
		return none, err
	}
	select {
	case c.asking <- struct{}{}:
	case <-ctx.Done():
		return none, fmt.Errorf("%w: %w", ceph.ErrTimeout, context.Cause(ctx))
	}
	return await(ctx, func() (T, error) {
		defer func() { <-c.asking }()
		conn, err := open(c.source, initial(monmap.MonHost()), Options{Mon: unlimited})
		if err != nil {
			return none, err
		}
		defer conn.Shutdown()
		return work(func(prefix string, args arguments) ([]byte, error) { return askOnce(ctx, conn, prefix, args) })
	}, func(T) {})
}

func askOnce(ctx context.Context, conn *rados.Conn, prefix string, args arguments) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%w: %w", ceph.ErrTimeout, context.Cause(ctx))
	}
	command, err := args.encode(prefix)
	if err != nil {
		return nil, err
	}
	output, status, err := conn.MgrCommand([][]byte{command})
	if err != nil {
		return nil, failure(prefix, status, err)
	}
	return output, nil
}

// SubvolumeMetadata reads the metadata of subvolumes of one filesystem, or of their snapshots, one after the other over
// one connection. What keeps one of them from being read stands in its place; ErrNotReady is that
// of a clone that is being made. Without an active MDS it returns ErrNoActiveMDS and asks nothing,
// because the mgr would hang for everyone.
//
// Pacific's mgr has the command as well; only go-ceph's wrappers are compiled out for it.
func (c *Conn) SubvolumeMetadata(ctx context.Context, filesystem string, places []ceph.SubvolumePlace) ([]ceph.SubvolumeMetadata, error) {
	if err := c.checkActive(ctx, filesystem); err != nil {
		return nil, fmt.Errorf("reading the metadata of subvolumes of filesystem %q: %w", filesystem, err)
	}
	found, err := managed(ctx, c, func(send ask) ([]ceph.SubvolumeMetadata, error) {
		var out []ceph.SubvolumeMetadata
		for _, at := range places {
			values, err := subvolumeMetadata(send, at)
			if errors.Is(err, ceph.ErrTimeout) {
				return nil, err
			}
			out = append(out, ceph.SubvolumeMetadata{Values: values, Err: err})
		}
		return out, nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the metadata of subvolumes of filesystem %q: %w", filesystem, err)
	}
	return found, nil
}

func subvolumeMetadata(send ask, at ceph.SubvolumePlace) (map[string]string, error) {
	output, err := send(metadataCommand(at, "ls"), subvolumeArguments(at))
	if err != nil {
		return nil, fmt.Errorf("reading the metadata of subvolume %s: %w", at, err)
	}
	return ceph.ParseSubvolumeMetadata(output)
}

// metadataCommand is that of a subvolume or of a snapshot.
func metadataCommand(at ceph.SubvolumePlace, verb string) string {
	if at.Snapshot != "" {
		return "fs subvolume snapshot metadata " + verb
	}
	return "fs subvolume metadata " + verb
}

// subvolumeArguments name a subvolume, one of its snapshots, or, without a name, all of a group.
func subvolumeArguments(at ceph.SubvolumePlace) arguments {
	args := arguments{"vol_name": at.Filesystem}
	if at.Name != "" {
		args["sub_name"] = at.Name
	}
	if at.Group != "" {
		args["group_name"] = at.Group
	}
	if at.Snapshot != "" {
		args["snap_name"] = at.Snapshot
	}
	return args
}

// ChangeSubvolumeMetadata changes key by key, those of Set in the order of Ordered, one subvolume
// after the other over one connection: each connection takes longer than the commands. It returns
// an error for each change, nil where it was made: ErrChanged, and nothing was changed, when the
// metadata is no longer what it was. The mgr cannot compare by itself, so what another client writes
// within the next milliseconds is not seen. An error of Ceph as a whole ends it; beside it, those
// of the first changes are returned.
func (c *Conn) ChangeSubvolumeMetadata(ctx context.Context, filesystem string, changes []ceph.SubvolumeChange) ([]error, error) {
	if err := c.checkActive(ctx, filesystem); err != nil {
		return nil, fmt.Errorf("changing the metadata of subvolumes of filesystem %q: %w", filesystem, err)
	}
	type outcome struct {
		each []error
		err  error
	}
	done, err := managed(ctx, c, func(send ask) (outcome, error) {
		var out outcome
		for _, change := range changes {
			err := changeSubvolume(send, change)
			if err != nil {
				err = fmt.Errorf("changing the metadata of subvolume %s: %w", change.At, err)
			}
			if errors.Is(err, ceph.ErrTimeout) {
				out.err = err
				break
			}
			out.each = append(out.each, err)
		}
		return out, nil
	})
	if err != nil {
		return nil, fmt.Errorf("changing the metadata of subvolumes of filesystem %q: %w", filesystem, err)
	}
	return done.each, done.err
}

func changeSubvolume(send ask, change ceph.SubvolumeChange) error {
	at := change.At
	now, err := subvolumeMetadata(send, at)
	if err != nil {
		return err
	}
	if !maps.Equal(now, change.Was) {
		return ceph.ErrChanged
	}
	for _, key := range change.Ordered() {
		args := subvolumeArguments(at)
		args["key_name"], args["value"] = key, change.Set[key]
		if _, err := send(metadataCommand(at, "set"), args); err != nil {
			return err
		}
	}
	for _, key := range change.Remove {
		args := subvolumeArguments(at)
		args["key_name"], args["force"] = key, true
		if _, err := send(metadataCommand(at, "rm"), args); err != nil {
			return err
		}
	}
	return nil
}
