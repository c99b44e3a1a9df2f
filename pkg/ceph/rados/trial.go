//go:build cgo

package rados

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/ceph/go-ceph/rados"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Try returns nil when the user may send the command of a trial, ErrDenied when not.
func (c *Conn) Try(ctx context.Context, trial ceph.Trial) error {
	args := arguments{}
	for name, value := range trial.Arguments {
		args[name] = value
	}
	if trial.Caps != nil {
		args["caps"] = trial.Caps
	}
	ask := c.mon
	if trial.Manager {
		ask = c.mgr
	}
	_, err := ask(ctx, trial.Prefix, args)
	var refused *ceph.CommandError
	old := errors.Is(err, ceph.ErrNoCommand) || errors.Is(err, ceph.ErrNotLoaded) // That comes before caps are looked at.
	if errors.As(err, &refused) && refused.Errno == -int(trial.Refusal) && !old {
		return nil
	}
	if err != nil {
		return fmt.Errorf("trying whether the user may send %q: %w", trial.Prefix, err)
	}
	return nil
}

// tooLong is longer than any OSD allows for the name of an object. The OSD checks caps, then
// the name, and does nothing at all.
var tooLong = strings.Repeat("csi-rights-check/", 512)

// ObjectRights tells what the user may do with the objects of a pool in a RADOS namespace,
// without reading or writing any.
func (c *Conn) ObjectRights(ctx context.Context, pool, namespace string) (ceph.ObjectRights, error) {
	rights, err := callOSD(ctx, c, func(conn *rados.Conn) (ceph.ObjectRights, error) {
		io, err := conn.OpenIOContext(pool)
		if err != nil {
			return ceph.ObjectRights{}, failure(openPool, "", err)
		}
		defer io.Destroy()
		io.SetNamespace(namespace)
		var rights ceph.ObjectRights
		_, err = io.Stat(tooLong)
		if rights.Read, err = allowed(err); err != nil {
			return ceph.ObjectRights{}, failure("stat", "", err)
		}
		if rights.Write, err = allowed(io.Delete(tooLong)); err != nil {
			return ceph.ObjectRights{}, failure("delete", "", err)
		}
		return rights, nil
	})
	if errors.Is(err, ceph.ErrDenied) {
		return ceph.ObjectRights{}, nil
	}
	if err != nil {
		return ceph.ObjectRights{}, fmt.Errorf("trying what the user may do in pool %q: %w", pool, err)
	}
	return rights, nil
}

func allowed(err error) (bool, error) {
	switch -number(err) {
	case int(syscall.ENAMETOOLONG):
		return true, nil
	case int(syscall.EPERM), int(syscall.EACCES):
		return false, nil
	}
	if err == nil {
		err = errors.New("the OSD accepted the name of an object that no OSD accepts")
	}
	return false, err
}
