package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	operand "github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
)

// lab is a Ceph with a pool, and the drivers.
type lab struct {
	*cephdaemons.Ceph
	dir     string
	drivers map[string]*driver
}

// driver is a running stand-in.
type driver struct {
	endpoint string
	csi.IdentityClient
	csi.ControllerClient
	csi.NodeClient
	csi.GroupControllerClient
	log string
}

// caps are those that the operator gives its users.
var caps = map[string][]string{
	"rbd":                given(operand.RBD, ceph.Placement{Pool: "rbd"}).Provisioner.Arguments(),
	"cephfs-provisioner": given(operand.CephFS, inFiles).Provisioner.Arguments(),
	"cephfs-node":        given(operand.CephFS, inFiles).Node.Arguments(),
}

var inFiles = ceph.Placement{Filesystem: cephdaemons.Filesystem}

func given(d operand.Driver, place ceph.Placement) operand.UserCaps {
	caps, err := d.Rights.Caps(context.Background(), named{}, "claim", []operand.Used{{Placement: place}})
	if err != nil {
		panic(err)
	}
	return caps
}

// named has filesystems by the names that are asked for.
type named struct{ operand.Lists }

func (named) FileSystems(context.Context) ([]ceph.FileSystem, error) { return nil, nil }

const (
	metadataPool = cephdaemons.Filesystem + "-metadata"
	cluster      = "infra-a"
)

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{dir: t.TempDir(), drivers: map[string]*driver{}}
	t.Cleanup(func() { endMounts(l.dir) })
	l.Ceph = startCeph(t, l.dir)
	check(t, l.CreatePool(t.Context(), "rbd", "rbd"))
	l.must(t, "fs", "subvolumegroup", "create", cephdaemons.Filesystem, "csi")
	l.must(t, "config", "set", "mon", "paxos_propose_interval", "0.05")
	l.writeConfig(t)
	for name, arguments := range map[string][]string{
		"rbd-controller":    {"--type=rbd", "--controllerserver=true", "--clustername=" + cluster, "--setmetadata=true"},
		"rbd-node":          {"--type=rbd", "--nodeserver=true"},
		"cephfs-controller": {"--type=cephfs", "--controllerserver=true", "--clustername=" + cluster, "--setmetadata=true"},
		"cephfs-node":       {"--type=cephfs", "--nodeserver=true"},
	} {
		l.start(t, name, arguments...)
	}
	return l
}

func startCeph(t *testing.T, dir string) *cephdaemons.Ceph {
	t.Helper()
	check(t, os.Mkdir(dir+"/logs", 0o700))
	group := process.NewGroup(dir+"/logs", func(process.Record) error { return nil })
	t.Cleanup(group.Kill)
	ceph, err := cephdaemons.Start(t.Context(), cephdaemons.Options{Dir: dir + "/ceph", Daemons: group})
	check(t, err)
	return ceph
}

// endMounts ends what outlives drivers whose volumes a failed test has left: a device without its
// program would hang everybody who looks at devices.
func endMounts(dir string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		content, err := os.ReadFile(file)
		name, _, _ := strings.Cut(string(content), "\x00")
		if err != nil || !strings.HasSuffix(name, "-fuse") || !strings.Contains(string(content), dir) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	for {
		mounts, err := os.ReadFile("/proc/self/mounts")
		at := strings.Index(string(mounts), " "+dir)
		if err != nil || at < 0 {
			return
		}
		path, _, _ := strings.Cut(string(mounts[at+1:]), " ")
		if syscall.Unmount(path, 2) != nil { // 2 is MNT_DETACH
			return
		}
	}
}

// writeConfig is what the operator keeps in a Secret.
func (l *lab) writeConfig(t *testing.T) {
	t.Helper()
	var monitors []string
	for _, name := range l.Mons() {
		monitors = append(monitors, l.MonHost(name))
	}
	content, err := json.Marshal([]map[string]any{{"clusterID": l.FSID(), "monitors": monitors}})
	check(t, err)
	check(t, os.WriteFile("/etc/ceph-csi-config/config.json", content, 0o600))
}

func (l *lab) start(t *testing.T, name string, arguments ...string) *driver {
	t.Helper()
	socket := filepath.Join(l.dir, name+".sock")
	d := &driver{endpoint: "unix://" + socket, log: filepath.Join(l.dir, name+".log")}
	log, err := os.Create(d.log)
	check(t, err)
	arguments = append(arguments, "--nodeid=node-1", "--endpoint="+d.endpoint, "--csi-addons-endpoint=unix://"+socket+".addons", "--pluginpath="+l.dir+"/plugins", "--v=4")
	cmd := exec.Command("/proc/self/exe", arguments...)
	cmd.Env = append(os.Environ(), roleVariable+"="+driverRole)
	cmd.Stdout, cmd.Stderr = log, log
	check(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if content, err := os.ReadFile(d.log); err == nil && t.Failed() {
			t.Logf("%s:\n%s", name, content)
		}
	})
	conn, err := grpc.NewClient(d.endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()))
	check(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	d.IdentityClient, d.ControllerClient, d.NodeClient = csi.NewIdentityClient(conn), csi.NewControllerClient(conn), csi.NewNodeClient(conn)
	d.GroupControllerClient = csi.NewGroupControllerClient(conn)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = d.Probe(ctx, &csi.ProbeRequest{}, grpc.WaitForReady(true))
	check(t, err)
	l.drivers[name] = d
	return d
}

// user makes one, and returns a call's secrets.
func (l *lab) user(t *testing.T, name string, caps ...string) map[string]string {
	t.Helper()
	key := l.must(t, append([]string{"auth", "get-or-create-key", "client." + name}, caps...)...)
	return map[string]string{"userID": name, "userKey": key}
}

func (l *lab) must(t *testing.T, arguments ...string) string {
	t.Helper()
	output, err := l.Command(t.Context(), arguments...)
	check(t, err)
	return strings.TrimSpace(string(output))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
