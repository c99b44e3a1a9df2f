//go:build cgo

package rados

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
)

// quick keeps failures short; nothing on loopback needs longer.
var quick = Options{Mount: 2 * time.Second, Silence: 2 * time.Second}

// startCeph runs a real Ceph for the length of a test.
func startCeph(t *testing.T) *cephdaemons.Ceph {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a real Ceph")
	}
	dir := t.TempDir()
	check(t, os.Mkdir(dir+"/logs", 0o700))
	daemons := process.NewGroup(dir+"/logs", func(process.Record) error { return nil })
	t.Cleanup(daemons.Kill)
	c, err := cephdaemons.Start(t.Context(), cephdaemons.Options{Dir: dir + "/ceph", Daemons: daemons})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// source declares a real Ceph by the files of its administrator.
func source(t *testing.T, c *cephdaemons.Ceph) ceph.Source {
	t.Helper()
	s, err := ceph.ParseSource(t.Context(), map[string][]byte{
		ceph.EntryConf: []byte(c.Conf()), ceph.EntryKeyring: []byte(c.Keyring()),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// command runs `ceph` as the administrator.
func command(t *testing.T, c *cephdaemons.Ceph, arguments ...string) []byte {
	t.Helper()
	output, err := c.Command(t.Context(), arguments...)
	if err != nil {
		t.Fatal(err)
	}
	return output
}

// deadAddress is one where nobody listens.
func deadAddress(t *testing.T) ceph.Address {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return at(listener)
}

// blackHole accepts connections and never says anything.
func blackHole(t *testing.T) ceph.Address {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return at(listener)
}

func at(listener net.Listener) ceph.Address {
	return ceph.Address{Protocol: ceph.V2, IP: "127.0.0.1", Port: uint16(listener.Addr().(*net.TCPAddr).Port)}
}

// TestRealCeph runs what needs a Ceph on one, because each takes seconds to start.
func TestRealCeph(t *testing.T) {
	c := startCeph(t)
	for _, part := range []struct {
		name string
		test func(*testing.T, *cephdaemons.Ceph)
	}{
		{"MonHostForms", testMonHostForms},
		{"FileForms", testFileForms},
		{"FailuresLeaveNothing", testFailuresLeaveNothing},
		{"Namespaces", testNamespaces},
		{"ManyFailures", testManyFailures},
		{"SilentMgr", testSilentMgr},
		{"ManyCallsInAnOutage", testManyCallsInAnOutage},
		{"LateAnswerOfMgr", testLateAnswerOfMgr},
		{"MountedImage", testMountedImage},
		{"CloseUnderCall", testCloseUnderCall},
		{"Subvolumes", testSubvolumes},
		{"GroupRights", testGroupRights},
		{"Clients", testClients},
		{"ManagerGivenUp", testManagerGivenUp},
		{"Images", testImages},
		{"Journals", testJournals},
		{"References", testReferences},
		{"Record", testRecord},
		{"RecordsTogether", testRecordsTogether},
		{"WithoutCaps", testWithoutCaps},
		{"PausedOSDs", testPausedOSDs},
		{"SilentOSD", testSilentOSD},
		{"WatchesInOutage", testWatchesInOutage},
		{"Quota", testQuota},
		{"BrokenModule", testBrokenModule},
		{"Contract", testContract},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, c) })
	}
}

func testContract(t *testing.T, c *cephdaemons.Ceph) {
	cephtest.Contract(t, func(t *testing.T) cephtest.Subject {
		command(t, c, "fs", "flag", "set", "enable_multiple", "true")
		if err := c.CreateFilesystem(t.Context(), "idle"); err != nil {
			t.Fatal(err)
		}
		return cephtest.Subject{
			Dial: func(ctx context.Context, source ceph.Source) (cephtest.Connection, error) {
				conn, err := Dial(ctx, source, quick)
				if err != nil {
					return nil, err
				}
				return conn, nil
			},
			Source: source(t, c),
			Reader: addReader(t, c),
			Active: cephdaemons.Filesystem,
			Idle:   "idle",
			Dead:   deadAddress(t),
			RemoveUser: func(t *testing.T, id string) {
				command(t, c, "auth", "rm", "client."+id)
			},
			AddImage: func(t *testing.T, at ceph.ImagePlace) { addImage(t, c, at) },
			AddJournal: func(t *testing.T, pool, namespace, object string, keys ...string) {
				addJournal(t, c, pool, namespace, object, keys)
			},
			AddSubvolume:    func(t *testing.T, at ceph.SubvolumePlace) { addSubvolume(t, c, at) },
			RetainSubvolume: func(t *testing.T, at ceph.SubvolumePlace) { retainSubvolume(t, c, at) },
			CheckImage:      func(t *testing.T, at ceph.ImagePlace, want map[string]string) { checkImage(t, c, at, want) },
			AddMon:          func(t *testing.T, name string) { check(t, c.AddMon(t.Context(), name)) },
			RemoveMon: func(t *testing.T, name string) {
				check(t, c.RemoveMon(t.Context(), name))
			},
			Stop:  func(t *testing.T) { check(t, c.Pause()) },
			Start: func(t *testing.T) { check(t, c.Resume()) },
		}
	})
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// addReader adds a user with caps for reading.
func addReader(t *testing.T, c *cephdaemons.Ceph) ceph.Credentials {
	t.Helper()
	return addUser(t, c, "reader", "mon", "allow r", "mgr", `allow command "fs subvolumegroup ls"`)
}

func addUser(t *testing.T, c *cephdaemons.Ceph, id string, caps ...string) ceph.Credentials {
	t.Helper()
	output := command(t, c, append([]string{"auth", "get-or-create", "client." + id, "--format", "json"}, caps...)...)
	var users []struct{ Key string }
	check(t, json.Unmarshal(output, &users))
	return ceph.Credentials{UserID: id, Key: ceph.NewKey(users[0].Key)}
}

// resources are the threads and open files of this process.
func resources(t *testing.T) (threads, files int) {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	check(t, err)
	fds, err := os.ReadDir("/proc/self/fd")
	check(t, err)
	return len(tasks), len(fds)
}

// stderr collects what is written to file descriptor 2 while work runs.
func stderr(t *testing.T, work func()) string {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "stderr")
	check(t, err)
	defer file.Close()
	restore := redirect(t, file)
	work()
	restore()
	text, err := os.ReadFile(file.Name())
	check(t, err)
	return string(text)
}

func mustNotShow(t *testing.T, text string, key ceph.Key) {
	t.Helper()
	if strings.Contains(text, key.Reveal()[:12]) {
		t.Errorf("a key is shown in %q", text)
	}
}
