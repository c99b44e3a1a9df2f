package cephtest

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// user is a cephx user.
type user struct {
	key  ceph.Key
	caps ceph.Caps
	// denied are commands that it may not send whatever its caps say.
	denied []string
}

// AddUser adds a user that may do everything but the commands denied, which are named by
// their prefix such as "osd pool create". A user of that name gets a new key; sessions it
// has keep their rights, as with a real Ceph.
func (c *Cluster) AddUser(id string, denied ...string) ceph.Credentials {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := ceph.Caps{Mon: "allow *", Mgr: "allow *", OSD: "allow *", MDS: "allow *"}
	u := user{key: c.makeKey(""), caps: all, denied: denied}
	c.users[id] = u
	return ceph.Credentials{UserID: id, Key: u.key}
}

// Deny sets what a user may not do; sessions it has keep their rights.
func (c *Cluster) Deny(id string, denied ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.users[id]
	u.denied = denied
	c.users[id] = u
}

// SetCaps is `ceph auth caps` of an administrator.
func (c *Cluster) SetCaps(id string, caps ceph.Caps) {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.users[id]
	u.caps = caps
	c.users[id] = u
}

// RemoveUser removes a user; its sessions go on, as with a real Ceph.
func (c *Cluster) RemoveUser(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.users, id)
}

// User is a user as `ceph auth get` shows it; false when there is none.
func (c *Cluster) User(id string) (ceph.User, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	u, found := c.users[id]
	return ceph.User{Credentials: ceph.Credentials{UserID: id, Key: u.key}, Caps: u.caps}, found
}

// makeKey makes a key of a type, without one of the preferred type. Where Ceph knows but one, it does not
// look.
func (c *Cluster) makeKey(kind ceph.KeyType) ceph.Key {
	c.keysMade++
	if len(c.keys.Allowed) == 0 {
		kind = ceph.AES
	}
	return newKey(cmp.Or(kind, c.keys.Preferred), c.keysMade)
}

// checkWeak refuses a command that would make a key of type aes, where mons make none.
func (c *Cluster) checkWeak(prefix string, kind ceph.KeyType) error {
	if c.refusesWeak == 0 || cmp.Or(kind, c.keys.Preferred) == ceph.AES256 {
		return nil
	}
	return refusal(prefix, c.refusesWeak, "cannot create key of insecure type aes")
}

// newKey makes a valid cephx key.
func newKey(kind ceph.KeyType, number uint64) ceph.Key {
	head, length := byte(1), byte(16)
	if kind == ceph.AES256 {
		head, length = 2, 32
	}
	raw := append([]byte{head, 0}, make([]byte, 8)...)
	raw = append(raw, length, 0)
	for len(raw) < 12+int(length) {
		raw = binary.BigEndian.AppendUint64(raw, 0xc3a5c85c97cb3127*number)
		raw = binary.BigEndian.AppendUint64(raw, 0x9ae16a3b2f90404f*number)
	}
	return ceph.NewKey(base64.StdEncoding.EncodeToString(raw))
}

// may says whether a user has the right to a command, on a user where it is on one, as far as this module's caps go.
func (u user) may(prefix, entity string) bool {
	if slices.Contains(u.denied, prefix) {
		return false
	}
	has := func(text string, grants ...string) bool {
		return slices.ContainsFunc(strings.Split(text, ", "), func(g string) bool { return slices.Contains(grants, g) })
	}
	command := fmt.Sprintf("allow command %q", prefix)
	switch prefix {
	case "fsid", "mon dump", "version", "osd pool ls", "versions", "quorum_status", "time-sync-status", "df":
		return u.caps.Mon != ""
	case "osd blocklist":
		return has(u.caps.Mon, "allow *", "profile rbd", command)
	case "osd pool set":
		return has(u.caps.Mon, "allow *", command, command+" with var=nodelete")
	case "fs dump", "fs ls", "config get":
		return has(u.caps.Mon, "allow *", "allow r")
	case "fs subvolumegroup ls", "fs subvolumegroup create", "fs subvolume create", "fs subvolume ls", listSubvolumeKeys, setSubvolumeKey, removeSubvolumeKey:
		return has(u.caps.Mgr, "allow *", "allow rw", "allow module volumes rw", command)
	case "rbd task add flatten":
		return has(u.caps.Mgr, "allow *", "allow rw", "allow module rbd_support rw", "profile rbd", command)
	}
	return has(u.caps.Mon, "allow *", command) || slices.ContainsFunc(strings.Split(u.caps.Mon, ", "), func(grant string) bool {
		names, limited := strings.CutPrefix(grant, command+" with entity prefix ")
		return limited && strings.HasPrefix(entity, names)
	})
}

// User reads a cephx user.
func (c *Client) User(ctx context.Context, id string) (out ceph.User, err error) {
	const prefix = "auth get"
	err = c.run(ctx, prefix, func(cluster *Cluster) error {
		u, found := cluster.users[id]
		if !found {
			return refusal(prefix, syscall.ENOENT, "failed to find client."+id+" in keyring")
		}
		out = ceph.User{Credentials: ceph.Credentials{UserID: id, Key: u.key}, Caps: u.caps}
		return nil
	})
	if err != nil {
		return ceph.User{}, fmt.Errorf("reading Ceph user client.%s: %w", id, err)
	}
	return out, nil
}

// CreateUser makes a cephx user, or returns the one with exactly these caps.
func (c *Client) CreateUser(ctx context.Context, id string, caps ceph.Caps, kind ceph.KeyType) (out ceph.User, err error) {
	const prefix = "auth get-or-create"
	err = c.write(ctx, prefix, func(cluster *Cluster) error {
		if err := checkCaps(prefix, caps); err != nil {
			return err
		}
		u, found := cluster.users[id]
		if found && u.caps != caps && caps != (ceph.Caps{}) {
			return refusal(prefix, syscall.EINVAL, "key for client."+id+" exists but cap does not match")
		}
		if !found {
			if err := cluster.checkWeak(prefix, kind); err != nil {
				return err
			}
			u = user{key: cluster.makeKey(kind), caps: caps}
			cluster.users[id] = u
		}
		out = ceph.User{Credentials: ceph.Credentials{UserID: id, Key: u.key}, Caps: u.caps}
		return nil
	})
	if err != nil {
		return ceph.User{}, fmt.Errorf("creating Ceph user client.%s: %w", id, err)
	}
	return out, nil
}

// RotateKey gives a cephx user another key.
func (c *Client) RotateKey(ctx context.Context, id string, kind ceph.KeyType) (out ceph.User, err error) {
	const prefix = "auth rotate"
	err = c.write(ctx, prefix, func(cluster *Cluster) error {
		u, found := cluster.users[id]
		if !found {
			return refusal(prefix, syscall.ENOENT, "entity does not exist")
		}
		if err := cluster.checkWeak(prefix, kind); err != nil {
			return err
		}
		u.key = cluster.makeKey(kind)
		cluster.users[id] = u
		out = ceph.User{Credentials: ceph.Credentials{UserID: id, Key: u.key}, Caps: u.caps}
		return nil
	})
	if err != nil {
		return ceph.User{}, fmt.Errorf("giving Ceph user client.%s another key: %w", id, err)
	}
	return out, nil
}

// SetCaps replaces all caps of a cephx user, whose sessions keep those that they have.
func (c *Client) SetCaps(ctx context.Context, id string, caps ceph.Caps) error {
	const prefix = "auth caps"
	err := c.write(ctx, prefix, func(cluster *Cluster) error {
		if err := checkCaps(prefix, caps); err != nil {
			return err
		}
		u, found := cluster.users[id]
		if !found {
			return refusal(prefix, syscall.ENOENT, "couldn't find entry client."+id)
		}
		u.caps = caps
		cluster.users[id] = u
		return nil
	})
	if err != nil {
		return fmt.Errorf("changing the caps of Ceph user client.%s: %w", id, err)
	}
	return nil
}

// RemoveUser removes a cephx user; Ceph does not mind where there is none.
func (c *Client) RemoveUser(ctx context.Context, id string) error {
	err := c.write(ctx, "auth rm", func(cluster *Cluster) error {
		delete(cluster.users, id)
		return nil
	})
	if err != nil {
		return fmt.Errorf("removing Ceph user client.%s: %w", id, err)
	}
	return nil
}

// quotedFilesystem is what an MDS does not understand.
var quotedFilesystem = regexp.MustCompile(`fsname=[^ ]*[^A-Za-z0-9_.= -]`)

// checkCaps refuses what Ceph cannot parse, in the forms that anybody tries.
func checkCaps(prefix string, caps ceph.Caps) error {
	for _, text := range caps.Arguments() {
		for _, grant := range strings.Split(text, ", ") {
			if strings.HasSuffix(grant, "=") || quotedFilesystem.MatchString(grant) {
				return refusal(prefix, syscall.EINVAL, "capability parse failed, stopped at '"+grant+"'")
			}
		}
	}
	return nil
}
