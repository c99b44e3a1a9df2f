package cephtest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Connection is what a connection to a Ceph can do, in memory or real.
type Connection interface {
	FSID(ctx context.Context) (string, error)
	MonMap(ctx context.Context) (ceph.MonMap, error)
	Version(ctx context.Context) (string, error)
	Pools(ctx context.Context) ([]ceph.Pool, error)
	CreatePool(ctx context.Context, name string) error
	EnableApplication(ctx context.Context, pool, application string) error
	FileSystems(ctx context.Context) ([]ceph.FileSystem, error)
	EnsureSubvolumeGroup(ctx context.Context, filesystem, group string) error
	SubvolumeGroups(ctx context.Context, filesystem string) ([]string, error)
	CreateNamespace(ctx context.Context, pool, namespace string) error
	SetNoDelete(ctx context.Context, pool string, on bool) error
	SetPoolMetadata(ctx context.Context, pool, application, key, value string) error
	RemovePoolMetadata(ctx context.Context, pool, application, key string) error
	User(ctx context.Context, id string) (ceph.User, error)
	CreateUser(ctx context.Context, id string, caps ceph.Caps, kind ceph.KeyType) (ceph.User, error)
	RotateKey(ctx context.Context, id string, kind ceph.KeyType) (ceph.User, error)
	SetCaps(ctx context.Context, id string, caps ceph.Caps) error
	Watch(ctx context.Context, pool, object string, answer []byte, create bool) (ceph.Watch, error)
	Watchers(ctx context.Context, pool, object string) ([]ceph.Watcher, error)
	LastWatched(ctx context.Context, pool, object string) (time.Time, error)
	RemoveWatched(ctx context.Context, pool, object string) error
	ClientAddress() string
	Preflight
	Metadata
	Close()
}

// Subject is a Ceph under contract, and what its administrator can do.
type Subject struct {
	Dial func(ctx context.Context, source ceph.Source) (Connection, error)
	// Source declares the cluster with its fsid, as a user who may do everything.
	Source ceph.Source
	// Reader is a user who may read everything and write nothing.
	Reader ceph.Credentials
	// Active is a filesystem with an active MDS, Idle one without.
	Active, Idle string
	// Dead is an address where nobody listens.
	Dead ceph.Address
	// RemoveUser removes a user of whom only the name without "client." is given.
	RemoveUser func(t *testing.T, id string)
	// AddImage, AddJournal and AddSubvolume add what ceph-csi adds; a journal's keys and values
	// follow its name. The RADOS namespace may be new. AddSubvolume adds snapshots, too, and
	// RetainSubvolume removes a subvolume but for its snapshots.
	AddImage        func(t *testing.T, at ceph.ImagePlace)
	AddJournal      func(t *testing.T, pool, namespace, object string, keys ...string)
	AddSubvolume    func(t *testing.T, at ceph.SubvolumePlace)
	RetainSubvolume func(t *testing.T, at ceph.SubvolumePlace)
	// CheckImage compares the metadata of an image with what another client sees, if there is one.
	CheckImage func(t *testing.T, at ceph.ImagePlace, want map[string]string)
	// AddMon and RemoveMon change the mons and return when they have a quorum.
	AddMon, RemoveMon func(t *testing.T, name string)
	// Stop makes the cluster silent, Start ends that.
	Stop, Start func(t *testing.T)
}

// Contract checks that a Ceph behaves as the features of this module rely on. open is called
// once.
func Contract(t *testing.T, open func(t *testing.T) Subject) {
	s := open(t)
	for _, part := range []struct {
		name string
		test func(*testing.T, Subject)
	}{
		{"Identity", testIdentity},
		{"Pools", testPools},
		{"Protection", testProtection},
		{"Namespaces", testNamespaces},
		{"Filesystems", testFilesystems},
		{"ImageMetadata", testImageMetadata},
		{"Journals", testJournals},
		{"SubvolumeMetadata", testSubvolumeMetadata},
		{"Overview", testOverview},
		{"Trials", testTrials},
		{"ObjectRights", testObjectRights},
		{"FilesystemPools", testFilesystemPools},
		{"Reader", testReader},
		{"Claims", testClaims},
		{"FilesystemTags", testFilesystemTags},
		{"Watches", testWatches},
		{"NoWatches", testNoWatches},
		{"Users", testUsers},
		{"CapNames", testCapNames},
		{"KeyTypes", testKeyTypes},
		{"Rights", testRights},
		{"Refused", testRefused},
		{"OtherCluster", testOtherCluster},
		{"Unreachable", testUnreachable},
		{"Mons", testMons},
		{"Outage", testOutage},
		{"Context", testContext},
		{"Close", testClose},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, s) })
	}
}

// dial connects for the length of a test.
func dial(t *testing.T, s Subject, source ceph.Source) Connection {
	t.Helper()
	conn, err := s.Dial(t.Context(), source)
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// must fails the test unless an error is of the wanted class; nil wants no error.
func must(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%s: got %v, want %v", what, err, want)
	}
}

func testIdentity(t *testing.T, s Subject) {
	conn := dial(t, s, s.Source)
	fsid, err := conn.FSID(t.Context())
	must(t, "fsid", err, nil)
	if fsid != s.Source.FSID {
		t.Errorf("fsid is %s, want %s", fsid, s.Source.FSID)
	}
	m, err := conn.MonMap(t.Context())
	must(t, "monmap", err, nil)
	if m.FSID != s.Source.FSID || m.Epoch < 1 || len(m.Mons) == 0 || len(m.Monitors()) != len(m.Mons) {
		t.Errorf("monmap %+v", m)
	}
	version, err := conn.Version(t.Context())
	must(t, "version", err, nil)
	if strings.Count(version, ".") != 2 {
		t.Errorf("version is %q", version)
	}
	undeclared := s.Source
	undeclared.FSID = ""
	dial(t, s, undeclared)
	again := s.Source
	again.Monitors = append(m.MonHost(), s.Source.Monitors...)
	dial(t, s, again)
}

func pool(t *testing.T, conn Connection, name string) (ceph.Pool, bool) {
	t.Helper()
	pools, err := conn.Pools(t.Context())
	must(t, "pools", err, nil)
	i := slices.IndexFunc(pools, func(p ceph.Pool) bool { return p.Name == name })
	if i < 0 {
		return ceph.Pool{}, false
	}
	return pools[i], true
}

func testPools(t *testing.T, s Subject) {
	ctx, conn := t.Context(), dial(t, s, s.Source)
	if _, found := pool(t, conn, "contract"); found {
		t.Fatal("the pool is there already")
	}
	must(t, "application without pool", conn.EnableApplication(ctx, "contract", "rbd"), ceph.ErrNotFound)
	for range 2 {
		must(t, "create", conn.CreatePool(ctx, "contract"), nil)
		p, found := pool(t, conn, "contract")
		if !found || p.ID == 0 || p.ErasureCoded || p.NoDelete || len(p.Applications) != 0 {
			t.Errorf("new pool is %+v", p)
		}
	}
	for range 2 {
		must(t, "application", conn.EnableApplication(ctx, "contract", "rbd"), nil)
		if p, _ := pool(t, conn, "contract"); !slices.Equal(p.Applications, []string{"rbd"}) {
			t.Errorf("pool with application is %+v", p)
		}
	}
	must(t, "second application", conn.EnableApplication(ctx, "contract", "cephfs"), ceph.ErrDenied)
	for _, name := range []string{"", "a/b", "a b", ".a"} {
		if conn.CreatePool(ctx, name) == nil {
			t.Errorf("pool %q is created", name)
		}
	}
}

func testFilesystems(t *testing.T, s Subject) {
	ctx, conn := t.Context(), dial(t, s, s.Source)
	filesystems, err := conn.FileSystems(ctx)
	must(t, "filesystems", err, nil)
	active := map[string]bool{}
	for _, f := range filesystems {
		active[f.Name] = f.Active
		if started := f.Name == s.Active; started && (len(f.Ranks) != 1 || f.Ranks[0].MDS == 0) || !started && len(f.Ranks) > 0 {
			t.Errorf("ranks of filesystem %s: %v", f.Name, f.Ranks)
		}
		if f.ID == 0 {
			t.Errorf("filesystem without ID: %+v", f)
		}
	}
	if idle, found := active[s.Idle]; !active[s.Active] || idle || !found {
		t.Errorf("filesystems are %+v", filesystems)
	}
	for range 2 {
		must(t, "group", conn.EnsureSubvolumeGroup(ctx, s.Active, "csi"), nil)
	}
	must(t, "group without MDS", conn.EnsureSubvolumeGroup(ctx, s.Idle, "csi"), ceph.ErrNoActiveMDS)
	must(t, "group without filesystem", conn.EnsureSubvolumeGroup(ctx, "none", "csi"), ceph.ErrNotFound)
}

func testReader(t *testing.T, s Subject) {
	ctx, source := t.Context(), s.Source
	source.Credentials = s.Reader
	conn := dial(t, s, source)
	_, err := conn.MonMap(ctx)
	must(t, "monmap", err, nil)
	_, err = conn.FileSystems(ctx)
	must(t, "filesystems", err, nil)
	must(t, "existing pool", conn.CreatePool(ctx, "contract"), nil)
	err = conn.CreatePool(ctx, "denied")
	must(t, "new pool", err, ceph.ErrDenied)
	if !strings.Contains(err.Error(), `creating pool "denied"`) || !strings.Contains(err.Error(), "osd pool create") {
		t.Errorf("the error names neither pool nor command: %v", err)
	}
	must(t, "application", conn.EnableApplication(ctx, "contract", "cephfs"), ceph.ErrDenied)
	must(t, "group", conn.EnsureSubvolumeGroup(ctx, s.Active, "denied"), ceph.ErrDenied)
}
