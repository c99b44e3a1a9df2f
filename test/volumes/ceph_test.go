package volumes

import (
	"os"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
)

// TestRealCeph runs what needs a Ceph on one, because each takes seconds to start.
func TestRealCeph(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real Ceph")
	}
	daemons, c := startCeph(t)
	check(t, c.Hurry())
	for _, pool := range []string{"rbd", "fast"} {
		check(t, daemons.CreatePool(t.Context(), pool, "rbd"))
	}
	for _, part := range []struct {
		name string
		test func(*testing.T, *Ceph)
	}{
		{"Images", testImages},
		{"ManyImages", testManyImages},
		{"Subvolumes", testSubvolumes},
		{"Dump", testDump},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, c) })
	}
}

func startCeph(t *testing.T) (*cephdaemons.Ceph, *Ceph) {
	t.Helper()
	dir := t.TempDir()
	check(t, os.Mkdir(dir+"/logs", 0o700))
	group := process.NewGroup(dir+"/logs", func(process.Record) error { return nil })
	t.Cleanup(group.Kill)
	daemons, err := cephdaemons.Start(t.Context(), cephdaemons.Options{Dir: dir + "/ceph", Daemons: group})
	check(t, err)
	c, err := Open(daemons.ConfFile(), daemons.KeyringFile())
	check(t, err)
	t.Cleanup(c.Close)
	return daemons, c
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
