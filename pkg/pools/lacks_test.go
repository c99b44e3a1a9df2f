package pools

import (
	"context"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

// inNamespace is a class whose clusterID config.json has for RADOS namespace "n".
func inNamespace(name string, pairs ...string) *storagev1.StorageClass {
	c := class(driver.RBD, name, pairs...)
	c.Parameters["clusterID"] = "team"
	return c
}

func (r *careRig) useNamespace(t *testing.T, classes ...*storagev1.StorageClass) {
	t.Helper()
	config := []ceph.ConfigEntry{{ClusterID: "team", Monitors: r.ceph.MonMap().Monitors(), ImageNamespace: "n"}}
	r.config.Usage.Set(usage.Of(r.config.Driver, config, classes, nil))
	r.later(t)
}

func TestMissingNamespaceIsReported(t *testing.T) {
	r := newCareRig(t, driver.RBD)
	r.ceph.AddPool(ceph.Pool{Name: "p", Applications: []string{"rbd"}})
	r.ceph.AddPool(ceph.Pool{Name: "files", Applications: []string{"cephfs"}})
	all := classes(inNamespace("c", "pool", "p", "journalPool", "j"), inNamespace("files", "pool", "files"), inNamespace("none", "pool", "none"))
	r.useNamespace(t, all...)
	r.expectProblems(t, "class, pool and namespace",
		`StorageClass c, Ceph cluster `+cephtest.FSID+`: pool "j" does not exist`,
		`StorageClass c, Ceph cluster `+cephtest.FSID+`: pool "p" has no RADOS namespace "n", which config.json names for its clusterID; create it: rbd namespace create p/n`,
		`pool "files" belongs to application`, `pool "none" does not exist`)
	r.expectReport(t, Report{
		Missing: map[string][]string{cephtest.FSID: {"j", "none", "p/n"}}, Protected: map[string][]string{cephtest.FSID: {"p"}}, Unprotected: map[string][]string{},
	})
	if !slices.ContainsFunc(r.events, func(e string) bool { return strings.HasPrefix(e, "c 0: ") && strings.Contains(e, `namespace "n"`) }) {
		t.Errorf("events %q tell nothing of the namespace", r.events)
	}
	r.expect(t, condition.VolumePlacesPresent, operatorv1.ConditionTrue, condition.AsExpected)
	if err := r.client.CreateNamespace(t.Context(), "p", "n"); err != nil {
		t.Fatal(err)
	}
	r.clock.SetTime(r.clock.Now().Add(watchInterval))
	r.sync(t)
	if got, _ := r.controller.Problems.Get(); len(got) != 3 || strings.Contains(strings.Join(got, " "), "namespace") {
		t.Errorf("the namespace is there: %q", got)
	}
}

func TestNamespaceThatCannotBeTold(t *testing.T) {
	r := newCareRig(t, driver.RBD, "namespace ls")
	r.ceph.AddPool(ceph.Pool{Name: "p", Applications: []string{"rbd"}})
	r.useNamespace(t, inNamespace("c", "pool", "p"))
	r.expectProblems(t, "who may not look says nothing against the class")
	r.expectFlagged(t, "in use", "p")
}

func TestNamespacesAreCreatedOnDemand(t *testing.T) {
	r := newCareRig(t, driver.RBD)
	r.settings.MissingPools = driver.MissingCreate
	r.useNamespace(t, inNamespace("c", "pool", "new"))
	r.expectProblems(t, "pool and namespace are made")
	names, err := r.client.ImageNamespaces(t.Context(), "new")
	if err != nil || !slices.Equal(names, []string{"", "n"}) {
		t.Errorf("namespaces of the new pool: %q, %v", names, err)
	}
	before := r.writes()
	r.later(t)
	if r.writes() != before {
		t.Errorf("writes again: %v", r.ceph.Writes())
	}

	denied := newCareRig(t, driver.RBD, "namespace create")
	denied.ceph.AddPool(ceph.Pool{Name: "p", Applications: []string{"rbd"}})
	denied.settings.MissingPools = driver.MissingCreate
	denied.useNamespace(t, inNamespace("c", "pool", "p"))
	denied.expectProblems(t, "who may not create says so", `creating RADOS namespace "n" in pool "p"`, `pool "p" has no RADOS namespace "n"`)
}

// TestUntaggedFilesystemIsReported: its pools are in use all the same.
func TestUntaggedFilesystemIsReported(t *testing.T) {
	r := newCareRig(t, driver.CephFS)
	r.ceph.AddFileSystem("a", true)
	r.ceph.AddGroup("a", driver.DefaultSubvolumeGroup)
	r.ceph.SetPoolMetadata("a-data", "cephfs", "data", "former")
	all := classes(class(driver.CephFS, "c", "fsName", "a"))
	r.use(t, all)
	r.expectProblems(t, "the administrator's user may have a right to all pools of cephfs")
	r.config.Minted.Set(true)
	r.later(t)
	r.expectProblems(t, "the class, and the command", `StorageClass c, Ceph cluster `+cephtest.FSID+`: pools of filesystem "a" lack Ceph's own keys, by which the caps of the drivers' users find them: ceph osd pool application set a-data cephfs data a`)
	r.expectReport(t, Report{
		Missing: map[string][]string{}, Protected: map[string][]string{cephtest.FSID: {"a-data", "a-metadata"}}, Unprotected: map[string][]string{},
	})
	r.ceph.SetPoolMetadata("a-data", "cephfs", "data", "a")
	r.later(t)
	r.expectProblems(t, "mended")
}

// silentManager is a mgr that does not answer: who asks it waits as long as they may.
type silentManager struct {
	Cluster
	waits []time.Duration
}

func (s *silentManager) SubvolumeGroups(ctx context.Context, _ string) ([]string, error) {
	deadline, _ := ctx.Deadline()
	s.waits = append(s.waits, time.Until(deadline))
	return nil, ceph.ErrTimeout
}

// TestSilentManagerLeavesTimeForMarks: claims and flags need mons alone.
func TestSilentManagerLeavesTimeForMarks(t *testing.T) {
	r := newCareRig(t, driver.CephFS)
	r.ceph.AddFileSystem("a", true)
	r.ceph.AddFileSystem("b", true)
	mgr := &silentManager{Cluster: r.client}
	r.client = mgr
	r.use(t, classes(class(driver.CephFS, "a", "fsName", "a"), class(driver.CephFS, "b", "fsName", "b")))
	if len(mgr.waits) != 1 || mgr.waits[0] > careDeadline-2*markReserve {
		t.Errorf("the mgr is waited for %v in a look of %v", mgr.waits, careDeadline)
	}
	r.expectFlagged(t, "in use", "a-data", "a-metadata", "b-data", "b-metadata")
	r.expectProblems(t, "a silent mgr says nothing against a class")
}

// failedManager is a mgr that refuses to answer.
type failedManager struct {
	Cluster
	err error
}

func (f failedManager) SubvolumeGroups(context.Context, string) ([]string, error) { return nil, f.err }

// TestFailedManagerLeavesMarks: so they do where its module is off, not loaded yet, or has failed.
func TestFailedManagerLeavesMarks(t *testing.T) {
	for name, refused := range map[string]*ceph.CommandError{
		"Off":     {Command: "fs subvolumegroup ls", Errno: -int(syscall.EOPNOTSUPP), Status: "Module 'volumes' is not enabled/loaded"},
		"Failed":  {Command: "fs subvolumegroup ls", Errno: -int(syscall.EIO), Status: "Module 'volumes' has experienced an error and cannot handle commands"},
		"Loading": {Command: "fs subvolumegroup ls", Errno: -int(syscall.EINVAL), Status: "No handler found"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newCareRig(t, driver.CephFS)
			r.ceph.AddFileSystem("a", true)
			r.client = failedManager{r.client, refused}
			r.use(t, classes(class(driver.CephFS, "a", "fsName", "a")))
			r.expectFlagged(t, "in use", "a-data", "a-metadata")
			r.expectProblems(t, "it says nothing against a class")
		})
	}
}

func TestGroupsAreCreatedOnDemand(t *testing.T) {
	r := newCareRig(t, driver.CephFS)
	r.settings.MissingPools = driver.MissingCreate
	r.ceph.AddFileSystem("a", true)
	r.ceph.AddFileSystem("idle", false)
	both := classes(class(driver.CephFS, "c", "fsName", "a"), class(driver.CephFS, "idle", "fsName", "idle"))
	r.use(t, both)
	r.expectProblems(t, "the group is made; without an active MDS nothing is asked for")
	if got := r.ceph.Groups("a"); !slices.Equal(got, []string{driver.DefaultSubvolumeGroup}) {
		t.Errorf("groups of filesystem a: %q", got)
	}
	before := r.writes()
	r.later(t)
	if r.writes() != before {
		t.Errorf("writes again: %v", r.ceph.Writes())
	}
	r.ceph.SetActive("idle", true)
	r.later(t)
	if got := r.ceph.Groups("idle"); len(got) != 1 {
		t.Errorf("with an MDS, groups of filesystem idle: %q", got)
	}

	denied := newCareRig(t, driver.CephFS, "fs subvolumegroup create")
	denied.settings.MissingPools = driver.MissingCreate
	denied.ceph.AddFileSystem("a", true)
	denied.use(t, classes(class(driver.CephFS, "c", "fsName", "a")))
	denied.expectProblems(t, "who may not create says so", `creating subvolume group "csi" of filesystem "a"`, `filesystem "a" has no subvolume group "csi"`)
}

// TestGroupUnknown: a group that ceph-csi may not be told to use is neither missed nor made.
func TestGroupUnknown(t *testing.T) {
	r := newCareRig(t, driver.CephFS)
	r.settings.MissingPools = driver.MissingCreate
	r.ceph.AddFileSystem("a", true)
	named := classes(class(driver.CephFS, "c", "fsName", "a"))
	r.config.Usage.Set(usage.Of(driver.CephFS, nil, named, nil))
	r.later(t)
	r.expectProblems(t, "config.json lacks the cluster")
	if got := r.ceph.Groups("a"); len(got) > 0 {
		t.Errorf("groups before config.json has the cluster: %q", got)
	}
	r.config.Usage.Set(usage.Of(driver.CephFS, configured("infra"), named, nil))
	r.later(t)
	if got := r.ceph.Groups("a"); !slices.Equal(got, []string{"infra"}) {
		t.Errorf("groups after: %q", got)
	}
}

func TestClusterIDsOfAdministrators(t *testing.T) {
	r := newCareRig(t, driver.RBD)
	r.ceph.AddPool(ceph.Pool{Name: "p", Applications: []string{"rbd"}})
	if err := r.client.CreateNamespace(t.Context(), "p", "n"); err != nil {
		t.Fatal(err)
	}
	r.useNamespace(t, inNamespace("c", "pool", "p"))
	r.expectProblems(t, "config.json says where the clusterID leads")
	r.expectFlagged(t, "in use, by whatever name of the Ceph cluster", "p")
}
