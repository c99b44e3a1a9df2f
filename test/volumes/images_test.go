package volumes

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

// layout is a row of the golden description: what is made, and what must then lie in Ceph.
type layout struct {
	make func(l *lab) error
	// want as describe puts it, with the short forms of expand.
	want string
	// settles says that the mgr does the rest, soon.
	settles bool
}

// lab is where one row is laid out: a RADOS namespace of its own.
type lab struct {
	*Cluster
	ceph  *Ceph
	class Class
}

func (l *lab) image(claim string) *Image { return must(l.Image(l.class, claim)) }

func (l *lab) snapshot(source *Image, name string) *ImageSnapshot {
	return must(l.ImageSnapshot(source, name))
}

// must ends a row with an error.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// testImages lays out all rows at the same time: what waits for the mons waits once.
func testImages(t *testing.T, c *Ceph) {
	rows := map[string]layout{}
	for _, table := range []map[string]layout{plainImages, imagesWithRelatives, deletedImages, unfinishedImages, copiedImages, groupedImages} {
		for name, row := range table {
			rows[name] = row
		}
	}
	names := slices.Sorted(maps.Keys(rows))
	laid := make([]error, len(names))
	check(t, Parallel(len(names), func(n int) error {
		laid[n] = rows[names[n]].lay(newLab(c, names[n]))
		return nil
	}))
	for n, name := range names {
		t.Run(name, func(t *testing.T) {
			check(t, laid[n])
			l := newLab(c, name)
			patience := time.Duration(0)
			if rows[name].settles {
				patience = time.Minute
			}
			eventually(t, patience, lines(expand(rows[name].want)), func() []string {
				got, err := describe(c, l.class.Place, l.labels())
				check(t, err)
				return lines(got)
			})
		})
	}
}

func newLab(c *Ceph, name string) *lab {
	return &lab{ceph: c, Cluster: c.Cluster("infra-a", 7), class: Class{Place: Place{"rbd", strings.ToLower(name)}, Features: Layering}}
}

// eventually waits for what the mgr does by itself.
func eventually(t *testing.T, patience time.Duration, want []string, get func() []string) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for ; ; <-time.After(100 * time.Millisecond) {
		diff := cmp.Diff(want, get())
		if diff == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("-want +got:\n%s", diff)
		}
	}
}

func (row layout) lay(l *lab) (err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			err = fmt.Errorf("laying out: %v", thrown)
		}
	}()
	if err := l.ceph.CreateNamespace(l.class.Place); err != nil {
		return err
	}
	return row.make(l)
}

// labels gives uuids the names of what they were drawn for.
func (l *lab) labels() *strings.Replacer {
	var pairs []string
	for kind, name := range map[string]string{"snapshot": "snap", "volume": "web"} {
		if handle, err := l.fileHandle(FileClass{Filesystem: cephdaemons.Filesystem}, l.uuid(kind, name)); err == nil {
			pairs = append(pairs, handle, "<handle of "+name+">")
		}
	}
	for _, name := range []string{"web", "copy", "again", "restored", "snap", "group"} {
		for _, kind := range []string{"claim", "volume", "request", "snapshot", "group", "grouprequest"} {
			pairs = append(pairs, l.uuid(kind, name), "<"+name+">")
		}
	}
	return strings.NewReplacer(pairs...)
}

// expand writes out TAGV and TAGS, the tags of a volume and of a snapshot, and J and JS, their
// journals.
func expand(want string) string {
	var out []string
	for _, line := range strings.Split(strings.TrimSpace(strings.ReplaceAll(want, "\t", "")), "\n") {
		kind, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		more, _, _ := strings.Cut(name, " ")
		switch kind {
		case "TAGV":
			out = append(out, fmt.Sprintf("  csi.ceph.com/cluster/name = infra-a\n  csi.storage.k8s.io/pv/name = pvc-<%[1]s>\n"+
				"  csi.storage.k8s.io/pvc/name = %[1]s\n  csi.storage.k8s.io/pvc/namespace = shop", more))
		case "TAGS":
			out = append(out, fmt.Sprintf("  csi.ceph.com/cluster/name = infra-a\n  csi.storage.k8s.io/volumesnapshot/name = %[1]s\n"+
				"  csi.storage.k8s.io/volumesnapshot/namespace = shop\n  csi.storage.k8s.io/volumesnapshotcontent/name = snapcontent-<%[1]s>", more))
		case "J":
			out = append(out, fmt.Sprintf("csi.volume.<%[1]s>\n  csi.imageid = <id of csi-vol-<%[1]s>>\n  csi.imagename = csi-vol-<%[1]s>\n"+
				"  csi.volname = pvc-<%[1]s>\n  csi.volume.owner = shop", more))
		case "JS":
			out = append(out, fmt.Sprintf("csi.snap.<%[1]s>\n  csi.imageid = <id of csi-snap-<%[1]s>>\n  csi.imagename = csi-snap-<%[1]s>\n"+
				"  csi.snapname = snapshot-<%[1]s>\n  csi.source = csi-vol-<web>\n  csi.volume.owner = shop", more))
		case "JF":
			out = append(out, fmt.Sprintf("csi.volume.<%[1]s>\n  csi.imagename = csi-vol-<%[1]s>\n  csi.volname = pvc-<%[1]s>\n  csi.volume.owner = shop", more))
		case "JFS":
			out = append(out, fmt.Sprintf("csi.snap.<%[1]s>\n   = shop\n  csi.imagename = csi-snap-<%[1]s>\n  csi.snapname = snapshot-<%[1]s>\n"+
				"  csi.source = csi-vol-<web>", more))
		case "SHALLOW":
			out = append(out, fmt.Sprintf("csi.volume.<%[1]s>\n  csi.imagename = csi-vol-<%[1]s>\n  csi.volname = pvc-<%[1]s>\n  csi.volume.owner = shop\n"+
				"  csi.volume.backingsnapshotid = <handle of snap>\ncsi.volumes.default\n  csi.volume.pvc-<%[1]s> = <%[1]s>", more))
		default:
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// lines name the block that they belong to, which begins with the last line without indentation,
// and are sorted.
func lines(text string) []string {
	var out []string
	block := ""
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if !strings.HasPrefix(line, " ") {
			block, _, _ = strings.Cut(line, ": ")
			out = append(out, line)
			continue
		}
		out = append(out, block+": "+strings.TrimSpace(line))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func testManyImages(t *testing.T, c *Ceph) {
	cluster := c.Cluster("infra-many", 1)
	class := Class{Place: Place{Pool: "fast"}, Features: Layering}
	check(t, Parallel(32, func(n int) error {
		i, err := cluster.Image(class, fmt.Sprintf("claim-%d", n))
		if err != nil {
			return err
		}
		s, err := cluster.ImageSnapshot(i, fmt.Sprintf("snapshot-%d", n))
		if err != nil {
			return err
		}
		if _, err := cluster.Restore(s, class, fmt.Sprintf("restored-%d", n)); err != nil {
			return err
		}
		_, err = cluster.CloneImage(i, fmt.Sprintf("clone-%d", n))
		return err
	}))
}
