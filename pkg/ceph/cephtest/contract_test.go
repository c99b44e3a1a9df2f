package cephtest

import (
	"context"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

func TestContract(t *testing.T) {
	Contract(t, func(*testing.T) Subject {
		c := New()
		c.AddFileSystem("myfs", true)
		c.AddFileSystem("idle", false)
		c.AddUser("reader")
		c.SetCaps("reader", ceph.Caps{Mon: "allow r", Mgr: `allow command "fs subvolumegroup ls"`})
		return Subject{
			Dial: func(ctx context.Context, source ceph.Source) (Connection, error) {
				client, err := c.Dial(ctx, source)
				if err != nil {
					return nil, err
				}
				return client, nil
			},
			Source: c.Source(),
			Reader: c.Credentials("reader"),
			Active: "myfs",
			Idle:   "idle",
			Dead:   ceph.Address{Protocol: ceph.V2, IP: "10.99.0.1", Port: 3300},
			RemoveUser: func(_ *testing.T, id string) {
				c.RemoveUser(id)
			},
			AddImage: func(_ *testing.T, at ceph.ImagePlace) { c.AddImage(at) },
			AddJournal: func(_ *testing.T, pool, namespace, object string, keys ...string) {
				c.AddJournal(pool, namespace, object, keys...)
			},
			AddSubvolume:    func(_ *testing.T, at ceph.SubvolumePlace) { c.AddSubvolume(at) },
			RetainSubvolume: func(_ *testing.T, at ceph.SubvolumePlace) { c.RemoveSubvolume(at) },
			AddMon:          func(_ *testing.T, name string) { c.AddMon(name) },
			RemoveMon: func(_ *testing.T, name string) {
				c.RemoveMon(name)
			},
			Stop:  func(*testing.T) { c.Stop() },
			Start: func(*testing.T) { c.Start() },
		}
	})
}
