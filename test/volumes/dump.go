package volumes

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ceph/go-ceph/rados"
)

// Dump is everything that lies in some pools and filesystems. Each entry is one fact, with a name
// that says where it is, such as
//
//	rbd/tenant/csi.volume.<uuid> omap csi.imageid
//
// and its bytes, or of much data a digest. Two Dumps are equal exactly when nothing has changed:
// what Ceph changes by itself is not in them.
type Dump map[string]string

// Dump reads pools with all of their RADOS namespaces, and filesystems with their journals.
func (c *Ceph) Dump(pools []string, filesystems ...string) (Dump, error) {
	d := collector{entries: Dump{}}
	for _, pool := range pools {
		if err := c.dumpPool(&d, pool, func(string) bool { return true }); err != nil {
			return nil, err
		}
	}
	for _, filesystem := range filesystems {
		// The pool's own namespace is the MDS's, which writes all the time.
		if err := c.dumpPool(&d, filesystem+"-metadata", func(namespace string) bool { return namespace != "" }); err != nil {
			return nil, err
		}
		if err := c.dumpFilesystem(&d, filesystem); err != nil {
			return nil, fmt.Errorf("filesystem %s: %w", filesystem, err)
		}
	}
	return d.entries, c.dumpCluster(&d)
}

// collector is filled concurrently.
type collector struct {
	mu      sync.Mutex
	entries Dump
}

func (d *collector) add(name, value string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries[name] = value
}

// dumpPool reads objects with data, attributes and omaps.
func (c *Ceph) dumpPool(d *collector, pool string, wanted func(namespace string) bool) error {
	all, err := c.conn.OpenIOContext(pool)
	if err != nil {
		return fmt.Errorf("pool %s: %w", pool, err)
	}
	defer all.Destroy()
	all.SetNamespace(rados.AllNamespaces)
	iter, err := all.Iter()
	if err != nil {
		return fmt.Errorf("listing pool %s: %w", pool, err)
	}
	defer iter.Close()
	type object struct{ namespace, name string }
	var objects []object
	for iter.Next() {
		if iter.Value() != mgrTasks && wanted(iter.Namespace()) {
			objects = append(objects, object{iter.Namespace(), iter.Value()})
		}
	}
	if err := iter.Err(); err != nil {
		return fmt.Errorf("listing pool %s: %w", pool, err)
	}
	return Parallel(len(objects), func(n int) error {
		place := Place{pool, objects[n].namespace}
		ioctx, err := c.at(place)
		if err != nil {
			return err
		}
		if err := dumpObject(d, ioctx, place, objects[n].name); err != nil {
			return fmt.Errorf("object %s/%s: %w", place, objects[n].name, err)
		}
		return nil
	})
}

func dumpObject(d *collector, ioctx *rados.IOContext, place Place, name string) error {
	title := place.String() + "/" + name
	data, err := readObject(ioctx, name)
	if errors.Is(err, rados.ErrNotFound) {
		return nil // went since it was listed
	}
	if err != nil {
		return err
	}
	d.add(title, printable(data))
	attributes, err := ioctx.ListXattrs(name)
	if err != nil {
		return err
	}
	for key, value := range attributes {
		d.add(title+" xattr "+key, printable(value))
	}
	omap, err := readOmap(ioctx, name)
	for key, value := range omap {
		if name == trashDirectory && len(value) > 0 {
			value = value[:len(value)-1]
		}
		d.add(title+" omap "+key, printable(value))
	}
	return err
}

// mgrTasks has what the mgr still has to do. It strikes those for images that are gone minutes later.
const mgrTasks = "rbd_task"

// trashDirectory has an entry for each image in the trash, whose last byte is its state. The mgr changes
// it whenever it tries to remove the image.
const trashDirectory = "rbd_trash"

func readObject(ioctx *rados.IOContext, name string) ([]byte, error) {
	stat, err := ioctx.Stat(name)
	if err != nil {
		return nil, err
	}
	data := make([]byte, stat.Size)
	n, err := ioctx.Read(name, data, 0)
	return data[:max(n, 0)], err
}

// readOmap also reads the empty key, which listings begin after.
func readOmap(ioctx *rados.IOContext, name string) (map[string][]byte, error) {
	values, err := ioctx.GetAllOmapValues(name, "", "", 10_000)
	if err != nil {
		return nil, err
	}
	operation := rados.CreateReadOp()
	defer operation.Release()
	step := operation.GetOmapValuesByKeys([]string{""})
	if err := operation.Operate(ioctx, name, rados.OperationNoFlag); err != nil {
		return nil, err
	}
	pair, err := step.Next()
	if err == nil && pair != nil {
		values[pair.Key] = pair.Value
	}
	return values, err
}

// longest is how much of a value is worth reading; of more, a digest is enough.
const longest = 400

func printable(value []byte) string {
	if len(value) > longest {
		return fmt.Sprintf("%d bytes, sha256 %x", len(value), sha256.Sum256(value))
	}
	if bytes.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
		return fmt.Sprintf("%q", value)
	}
	return string(value)
}

// dumpCluster reads users, without their keys, and how pools are marked.
func (c *Ceph) dumpCluster(d *collector) error {
	var users struct {
		List []struct {
			Entity string            `json:"entity"`
			Caps   map[string]string `json:"caps"`
		} `json:"auth_dump"`
	}
	var pools []struct {
		Name         string                       `json:"pool_name"`
		Flags        string                       `json:"flags_names"`
		Applications map[string]map[string]string `json:"application_metadata"`
	}
	for request, answer := range map[string]any{
		`{"prefix":"auth ls","format":"json"}`:                       &users,
		`{"prefix":"osd pool ls","detail":"detail","format":"json"}`: &pools,
	} {
		output, status, err := c.conn.MonCommand([]byte(request))
		if err != nil {
			return fmt.Errorf("%s: %w: %s", request, err, status)
		}
		if err := json.Unmarshal(output, answer); err != nil {
			return fmt.Errorf("%s: %w", request, err)
		}
	}
	for _, u := range users.List {
		d.add("user "+u.Entity, fmt.Sprint(u.Caps))
	}
	for _, p := range pools {
		d.add("pool "+p.Name, fmt.Sprint("nodelete ", strings.Contains(p.Flags, "nodelete"), " ", p.Applications))
	}
	return nil
}

// Changes are the entries that differ, one line each, sorted; empty when nothing has changed.
func (d Dump) Changes(later Dump) []string {
	var out []string
	names := maps.Clone(d)
	maps.Copy(names, later)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		before, was := d[name]
		after, is := later[name]
		switch {
		case !is:
			out = append(out, fmt.Sprintf("- %s: %s", name, before))
		case !was:
			out = append(out, fmt.Sprintf("+ %s: %s", name, after))
		case before != after:
			out = append(out, fmt.Sprintf("! %s: %s, was %s", name, after, before))
		}
	}
	return out
}

// shared are the objects whose single keys belong to different volumes.
var shared = []string{"csi.volumes.", "csi.snaps.", "csi.groups.", "rbd_directory", "rbd_trash", "rbd_children", "rbd_group_directory", "rt-", "volumes/_index/"}

// About are the entries of what has one of these words, uuids of volumes or IDs of images, in its
// name: objects, files and subvolumes as a whole; of the objects that volumes share, the keys with
// such a word in their name or value.
func (d Dump) About(words ...string) Dump {
	out := Dump{}
	for name, value := range d {
		text := name
		if slices.ContainsFunc(shared, func(s string) bool { return strings.Contains(name, "/"+s) }) {
			text += " " + value
		}
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) }) {
			out[name] = value
		}
	}
	return out
}
