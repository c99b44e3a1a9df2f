package volumes

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ceph/go-ceph/rados"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

// fileLab is where one row is laid out: a subvolume group and a RADOS namespace of its own.
type fileLab struct {
	*Cluster
	ceph  *Ceph
	class FileClass
}

func (l *fileLab) volume(claim string) *Subvolume { return must(l.Subvolume(l.class, claim)) }

func (l *fileLab) snapshot(source *Subvolume, name string) *SubvolumeSnapshot {
	return must(l.SubvolumeSnapshot(source, name))
}

// fileLayout is a row of the golden description.
type fileLayout struct {
	make func(l *fileLab) error
	want string
}

func newFileLab(c *Ceph, name string) *fileLab {
	name = strings.ToLower(name)
	return &fileLab{ceph: c, Cluster: c.Cluster("infra-a", 7), class: FileClass{Filesystem: cephdaemons.Filesystem, Group: name, Namespace: name}}
}

func testSubvolumes(t *testing.T, c *Ceph) {
	rows := maps.Clone(plainSubvolumes)
	maps.Copy(rows, subvolumesWithSnapshots)
	names := slices.Sorted(maps.Keys(rows))
	laid := make([]error, len(names))
	check(t, Parallel(len(names), func(n int) error {
		laid[n] = rows[names[n]].lay(newFileLab(c, names[n]))
		return nil
	}))
	// From here on no copy is finished any more.
	check(t, c.HoldClones(time.Hour))
	for name, row := range pendingSubvolumes {
		names = append(names, name)
		rows[name] = row
		laid = append(laid, row.lay(newFileLab(c, name)))
	}
	for n, name := range names {
		t.Run(name, func(t *testing.T) {
			check(t, laid[n])
			l := newFileLab(c, name)
			eventually(t, 0, lines(expand(rows[name].want)), func() []string {
				got, err := describeFiles(c, l.class)
				check(t, err)
				lab := &lab{Cluster: l.Cluster}
				return lines(lab.labels().Replace(got))
			})
		})
	}
}

func (row fileLayout) lay(l *fileLab) (err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			err = fmt.Errorf("laying out: %v", thrown)
		}
	}()
	if err := l.ceph.Group(l.class); err != nil {
		return err
	}
	return row.make(l)
}

// describeFiles reads a group with the mgr's commands, and the journal.
func describeFiles(c *Ceph, class FileClass) (string, error) {
	dump := collector{entries: Dump{}}
	in := map[string]any{"vol_name": class.Filesystem, "group_name": class.Group}
	subvolumes, err := c.names("fs subvolume ls", in)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, name := range subvolumes {
		if err := c.dumpSubvolume(&dump, class.Filesystem, class.Group, name); err != nil {
			return "", err
		}
		title := fmt.Sprintf("%s subvolume %s/%s", class.Filesystem, class.Group, name)
		info := parse(dump.entries[title+" fs subvolume info"])
		fmt.Fprintf(&b, "subvolume %s: %v, %v, quota %v\n", name, info["type"], info["state"], info["bytes_quota"])
		describeMap(&b, dump.entries[title+" fs subvolume metadata ls"])
		if status := dump.entries[title+" clone status"]; strings.Contains(status, `"state":"pending"`) {
			fmt.Fprintf(&b, "  clone status = pending\n")
		}
		for _, entry := range slices.Sorted(maps.Keys(dump.entries)) {
			snapshot, found := strings.CutPrefix(entry, title+"@")
			if snapshot, found2 := strings.CutSuffix(snapshot, " fs subvolume snapshot info"); found && found2 {
				fmt.Fprintf(&b, "snapshot %s of %s: pending clones %v\n", snapshot, name, parse(dump.entries[entry])["has_pending_clones"])
				describeMap(&b, dump.entries[title+"@"+snapshot+" fs subvolume snapshot metadata ls"])
			}
		}
	}
	ioctx, err := c.at(class.Journal())
	if err != nil {
		return "", err
	}
	if err := dumpNamespace(&b, ioctx); err != nil {
		return "", err
	}
	return b.String(), nil
}

// describeMap shows a JSON object's fields, or nothing where the mgr refused.
func describeMap(b *strings.Builder, text string) {
	fields := parse(text)
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		fmt.Fprintf(b, "  %s = %v\n", key, fields[key])
	}
}

func parse(text string) map[string]any {
	var fields map[string]any
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		return nil
	}
	return fields
}

// dumpNamespace shows journals and references.
func dumpNamespace(b *strings.Builder, ioctx *rados.IOContext) error {
	var objects []string
	if err := ioctx.ListObjects(func(name string) { objects = append(objects, name) }); err != nil {
		return err
	}
	slices.Sort(objects)
	for _, object := range objects {
		d := collector{entries: Dump{}}
		if err := dumpObject(&d, ioctx, Place{"p", "n"}, object); err != nil {
			return err
		}
		fmt.Fprintf(b, "%s\n", object)
		for _, entry := range slices.Sorted(maps.Keys(d.entries)) {
			key := strings.TrimPrefix(strings.TrimPrefix(entry, "p/n/"+object), " omap ")
			if key != "" || d.entries[entry] != "" {
				fmt.Fprintf(b, "  %s = %s\n", key, d.entries[entry])
			}
		}
	}
	return nil
}
