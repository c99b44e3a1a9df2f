package access

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/ceph/go-ceph/rados"
)

// idle is how long a connection is kept that nobody uses, at least.
const idle = 10 * time.Minute

// connection stays open between calls. What its user may do is what it could when its tickets were
// made: ceph-csi does not notice that a user may do more.
type connection struct {
	conn  *rados.Conn
	users int
	used  time.Time
}

var (
	mu   sync.Mutex
	pool = map[string]*connection{}
)

// connect gives the pooled connection of mons, user and key, and what ends its use.
func connect(mons string, user User) (*rados.Conn, func(), error) {
	key, err := os.ReadFile(user.KeyFile)
	if err != nil {
		return nil, nil, fmt.Errorf("could not open keyfile: %w", err)
	}
	name := mons + "|" + user.ID + "|" + string(key)
	if conn, done := take(name, nil); conn != nil {
		return conn, done, nil
	}
	conn, err := rados.NewConnWithUser(user.ID)
	if err != nil {
		return nil, nil, fmt.Errorf("creating a new connection failed: %w", err)
	}
	if err := conn.ParseCmdLineArgs([]string{"-m", mons, "--keyfile=" + user.KeyFile}); err != nil {
		return nil, nil, fmt.Errorf("parsing cmdline args failed: %w", err)
	}
	if err := conn.ReadConfigFile(cephConf); err != nil {
		return nil, nil, fmt.Errorf("failed to read config file %q: %w", cephConf, err)
	}
	if err := conn.Connect(); err != nil {
		return nil, nil, fmt.Errorf("connecting failed: %w", err)
	}
	conn, done := take(name, conn)
	return conn, done, nil
}

// take uses the connection of a name, which is the given one unless another call was quicker.
// Without any, it returns nil.
func take(name string, made *rados.Conn) (*rados.Conn, func()) {
	mu.Lock()
	defer mu.Unlock()
	for other, c := range pool {
		if c.users == 0 && other != name && time.Since(c.used) > idle {
			c.conn.Shutdown()
			delete(pool, other)
		}
	}
	c := pool[name]
	switch {
	case c == nil && made == nil:
		return nil, nil
	case c == nil:
		c = &connection{conn: made}
		pool[name] = c
	case made != nil:
		made.Shutdown()
	}
	c.users++
	c.used = time.Now()
	return c.conn, func() {
		mu.Lock()
		defer mu.Unlock()
		c.users--
	}
}
