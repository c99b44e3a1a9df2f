package volumes

import (
	"strings"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

// testDump comes last: it dumps what the others have laid out.
func testDump(t *testing.T, c *Ceph) {
	dump := func() Dump {
		d, err := c.Dump([]string{"rbd", "fast"}, cephdaemons.Filesystem)
		check(t, err)
		return d
	}
	before := dump()
	if changes := before.Changes(dump()); len(changes) > 0 {
		t.Errorf("a dump changes by itself:\n%s", strings.Join(changes, "\n"))
	}
	l := newLab(c, "plain")
	i, err := l.Image(l.class, "another")
	check(t, err)
	f := newFileLab(c, "fileplain")
	v, err := f.Subvolume(f.class, "another")
	check(t, err)
	after := dump()
	about := after.About(i.UUID(), i.ID, v.UUID())
	for _, want := range []string{
		"rbd/plain/csi.volume." + i.UUID() + " omap csi.imageid",
		"rbd/plain/csi.volumes.default omap csi.volume." + i.PV(),
		"rbd/plain/rbd_directory omap name_" + i.Name,
		"rbd/plain/rbd_directory omap id_" + i.ID,
		"rbd/plain/rbd_header." + i.ID + " omap metadata_csi.ceph.com/cluster/name",
		"myfs-metadata/fileplain/csi.volume." + v.UUID() + " omap csi.imagename",
		"myfs:/volumes/fileplain/" + v.Name + "/.meta",
		"myfs subvolume fileplain/" + v.Name + " fs subvolume metadata ls",
	} {
		if _, found := about[want]; !found {
			t.Errorf("no %q in what is about the new volumes", want)
		}
	}
	if changes := before.Changes(after.Without(i.UUID(), i.ID, v.UUID())); len(changes) > 0 {
		t.Errorf("more than the new volumes has changed:\n%s", strings.Join(changes, "\n"))
	}
	check(t, i.SetMetadata(map[string]string{"x": "y"}))
	if changes := after.Changes(dump()); len(changes) != 1 || !strings.HasSuffix(changes[0], "rbd_header."+i.ID+" omap metadata_x: y") {
		t.Errorf("a changed key shows as %q", changes)
	}
}
