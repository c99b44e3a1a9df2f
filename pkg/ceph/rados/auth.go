//go:build cgo

package rados

import (
	"context"
	"fmt"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// User reads a cephx user, by its name without "client.". ErrNotFound says that there is none.
func (c *Conn) User(ctx context.Context, id string) (ceph.User, error) {
	output, err := c.mon(ctx, "auth get", user(id, ceph.Caps{}))
	if err != nil {
		return ceph.User{}, fmt.Errorf("reading Ceph user client.%s: %w", id, err)
	}
	return ceph.ParseUser(output)
}

// UserIDs are the names of all cephx users but daemons, without "client.". The user needs mon caps
// "allow *", as `ceph auth ls` shows every key.
func (c *Conn) UserIDs(ctx context.Context) ([]string, error) {
	output, err := c.mon(ctx, "auth ls", arguments{})
	if err != nil {
		return nil, fmt.Errorf("listing Ceph users: %w", err)
	}
	return ceph.ParseUserIDs(output)
}

// CreateUser makes a cephx user, or returns the one that exists with exactly these caps. With
// other caps it is an error. A new key is of that type; empty leaves the choice to Ceph, which before
// ceph.StrongReleases has but one.
func (c *Conn) CreateUser(ctx context.Context, id string, caps ceph.Caps, kind ceph.KeyType) (ceph.User, error) {
	args := user(id, caps)
	if kind != "" {
		args["key_type"] = string(kind)
	}
	output, err := c.mon(ctx, "auth get-or-create", args)
	if err != nil {
		return ceph.User{}, fmt.Errorf("creating Ceph user client.%s: %w", id, err)
	}
	return ceph.ParseUser(output)
}

// RotateKey gives a cephx user another key, of that type. The old one is worth nothing any more.
func (c *Conn) RotateKey(ctx context.Context, id string, kind ceph.KeyType) (ceph.User, error) {
	output, err := c.mon(ctx, "auth rotate", arguments{"entity": ceph.Credentials{UserID: id}.Entity(), "key_type": string(kind)})
	if err != nil {
		return ceph.User{}, fmt.Errorf("giving Ceph user client.%s another key: %w", id, err)
	}
	return ceph.ParseUser(output)
}

// SetCaps replaces all caps of a cephx user, whose sessions keep those that they have.
func (c *Conn) SetCaps(ctx context.Context, id string, caps ceph.Caps) error {
	if _, err := c.mon(ctx, "auth caps", user(id, caps)); err != nil {
		return fmt.Errorf("changing the caps of Ceph user client.%s: %w", id, err)
	}
	return nil
}

func user(id string, caps ceph.Caps) arguments {
	args := arguments{"entity": ceph.Credentials{UserID: id}.Entity()}
	if words := caps.Arguments(); len(words) > 0 {
		args["caps"] = words
	}
	return args
}
