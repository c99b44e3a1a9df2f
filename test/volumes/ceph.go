// Package volumes lays volumes out on a real Ceph exactly as ceph-csi 3.12 lays them out, without
// ceph-csi and without Kubernetes: images, subvolumes, snapshots, clones, what deletions and
// crashes leave behind, and what administrators make of them. And it takes complete dumps of
// Ceph, so that a test can say that something is as it was.
//
// Several Clusters may work in the same pools at the same time, and everything may be called
// concurrently. Two runs with the same seeds make the same names.
package volumes

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/ceph/go-ceph/rados"
	"golang.org/x/sync/errgroup"
)

// Ceph is an administrator's connection.
type Ceph struct {
	conn *rados.Conn
	fsid string

	// asking holds a place for each command that the mgr works on.
	asking chan struct{}

	mu       sync.Mutex
	contexts map[Place]*rados.IOContext
}

// Place is a pool and a RADOS namespace in it; the empty one is the pool's own.
type Place struct {
	Pool, Namespace string
}

// String is how `rbd` names it.
func (p Place) String() string {
	if p.Namespace == "" {
		return p.Pool
	}
	return p.Pool + "/" + p.Namespace
}

// osdTimeout is in seconds. Commands have no limit, because librados does not survive one that is
// given up; the limit of the test holds.
const osdTimeout = "120"

// Open connects with the files of Ceph's administrator.
func Open(confFile, keyringFile string) (*Ceph, error) {
	return open(confFile, "admin", "keyring", keyringFile)
}

// OpenAs connects as a user, such as one of a driver, whose name is without "client.".
func OpenAs(confFile, user, key string) (*Ceph, error) { return open(confFile, user, "key", key) }

func open(confFile, user, option, value string) (*Ceph, error) {
	conn, err := rados.NewConnWithUser(user)
	if err != nil {
		return nil, err
	}
	if err := conn.ReadConfigFile(confFile); err != nil {
		return nil, fmt.Errorf("reading %s: %w", confFile, err)
	}
	for name, value := range map[string]string{option: value, "rados_osd_op_timeout": osdTimeout, "client_mount_timeout": "60"} {
		if err := conn.SetConfigOption(name, value); err != nil {
			return nil, fmt.Errorf("setting option %s: %w", name, err)
		}
	}
	if err := conn.Connect(); err != nil {
		return nil, fmt.Errorf("connecting to Ceph: %w", err)
	}
	fsid, err := conn.GetFSID()
	if err != nil {
		return nil, err
	}
	return &Ceph{conn: conn, fsid: fsid, asking: make(chan struct{}, mgrWidth), contexts: map[Place]*rados.IOContext{}}, nil
}

// Close ends the connection. Nothing may be under way.
func (c *Ceph) Close() {
	for _, ioctx := range c.contexts {
		ioctx.Destroy()
	}
	c.conn.Shutdown()
}

// at is shared: nobody may destroy it or change its namespace.
func (c *Ceph) at(p Place) (*rados.IOContext, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ioctx := c.contexts[p]; ioctx != nil {
		return ioctx, nil
	}
	ioctx, err := c.conn.OpenIOContext(p.Pool)
	if err != nil {
		return nil, fmt.Errorf("pool %s: %w", p.Pool, err)
	}
	ioctx.SetNamespace(p.Namespace)
	c.contexts[p] = ioctx
	return ioctx, nil
}

// command sends one to the active mgr, as ceph-csi does.
func (c *Ceph) command(prefix string, arguments map[string]any) ([]byte, error) {
	request := map[string]any{"prefix": prefix, "format": "json"}
	for name, value := range arguments {
		request[name] = value
	}
	text, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	c.asking <- struct{}{}
	defer func() { <-c.asking }()
	output, status, err := c.conn.MgrCommand([][]byte{text})
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %q", prefix, err, status)
	}
	return output, nil
}

// Hurry makes the mons act at once where they else collect for a second what they are told: each
// snapshot of an image waits for them.
func (c *Ceph) Hurry() error {
	request := `{"prefix":"config set","who":"mon","name":"paxos_propose_interval","value":"0.05"}`
	if _, status, err := c.conn.MonCommand([]byte(request)); err != nil {
		return fmt.Errorf("%s: %w: %s", request, err, status)
	}
	return nil
}

const (
	// width is how many things are laid out at the same time.
	width = 32
	// mgrWidth is how many commands at a time leave the mgr of Ceph 16 the quickest.
	mgrWidth = 6
)

// Parallel calls work for 0 to n-1 concurrently and returns all errors.
func Parallel(n int, work func(i int) error) error {
	errs := make([]error, n)
	group := errgroup.Group{}
	group.SetLimit(width)
	for i := range n {
		group.Go(func() error {
			errs[i] = work(i)
			return nil
		})
	}
	_ = group.Wait() // the errors are in errs
	return errors.Join(errs...)
}
