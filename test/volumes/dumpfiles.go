package volumes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/ceph/go-ceph/cephfs"
)

// mount is a filesystem's root.
func (c *Ceph) mount(filesystem string, work func(*cephfs.MountInfo) error) error {
	m, err := cephfs.CreateFromRados(c.conn)
	if err != nil {
		return err
	}
	defer func() { _ = m.Release() }()
	if err := m.SelectFilesystem(filesystem); err != nil {
		return err
	}
	if err := m.Mount(); err != nil {
		return fmt.Errorf("mounting %s: %w", filesystem, err)
	}
	return errors.Join(work(m), m.Unmount())
}

// dumpFilesystem reads all files, and what the mgr says of subvolumes.
func (c *Ceph) dumpFilesystem(d *collector, filesystem string) error {
	err := c.mount(filesystem, func(m *cephfs.MountInfo) error { return dumpFolder(d, m, filesystem+":", "/") })
	if err != nil {
		return err
	}
	groups, err := c.names("fs subvolumegroup ls", map[string]any{"vol_name": filesystem})
	if err != nil {
		return err
	}
	for _, group := range groups {
		in := map[string]any{"vol_name": filesystem, "group_name": group}
		subvolumes, err := c.names("fs subvolume ls", in)
		if err != nil {
			return err
		}
		err = Parallel(len(subvolumes), func(n int) error {
			if err := c.dumpSubvolume(d, filesystem, group, subvolumes[n]); err != nil {
				return fmt.Errorf("subvolume %s/%s: %w", group, subvolumes[n], err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// snapshotsFolder is in every folder, without being listed.
const snapshotsFolder = ".snap"

// dumpFolder leaves out what waits for the mgr's purge. Of a subvolume's .meta it reads what the mgr
// does not tell, that of subvolumes that only their snapshots keep: the mgr holds the others.
func dumpFolder(d *collector, m *cephfs.MountInfo, prefix, folder string) error {
	entries, err := list(m, folder)
	if err != nil {
		return fmt.Errorf("folder %s: %w", folder, err)
	}
	if !strings.Contains(folder, snapshotsFolder) {
		snapshots, err := list(m, path.Join(folder, snapshotsFolder))
		if err != nil {
			return fmt.Errorf("snapshots of %s: %w", folder, err)
		}
		for _, s := range snapshots {
			d.add(prefix+path.Join(folder, snapshotsFolder, s.Name()), "snapshot")
		}
	}
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		switch {
		case name == "/volumes/_deleting":
		case e.Name() == ".meta" && len(entries) > 1:
			d.add(prefix+name, "told by the mgr")
		case e.DType() == cephfs.DTypeDir:
			d.add(prefix+name, "folder")
			if err := dumpFolder(d, m, prefix, name); err != nil {
				return err
			}
		case e.DType() == cephfs.DTypeLnk:
			target, err := m.Readlink(name)
			if err != nil {
				return fmt.Errorf("link %s: %w", name, err)
			}
			d.add(prefix+name, "link to "+target)
		default:
			content, err := readFile(m, name)
			if err != nil {
				return fmt.Errorf("file %s: %w", name, err)
			}
			dumpFile(d, prefix+name, content)
		}
	}
	return nil
}

// dumpFile takes a subvolume's .meta apart: its sections belong to different volumes and snapshots.
func dumpFile(d *collector, name string, content []byte) {
	if !strings.HasSuffix(name, ".meta") {
		d.add(name, printable(content))
		return
	}
	section := ""
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
		}
		key, value, _ := strings.Cut(line, " = ")
		if line != "" {
			d.add(name+" "+section+" "+key, value)
		}
	}
}

func list(m *cephfs.MountInfo, folder string) ([]*cephfs.DirEntry, error) {
	dir, err := m.OpenDir(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	var out []*cephfs.DirEntry
	for {
		e, err := dir.ReadDir()
		if err != nil || e == nil {
			return out, err
		}
		if e.Name() != "." && e.Name() != ".." {
			out = append(out, e)
		}
	}
}

func readFile(m *cephfs.MountInfo, name string) ([]byte, error) {
	file, err := m.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(file)
}

// names asks for a listing.
func (c *Ceph) names(prefix string, arguments map[string]any) ([]string, error) {
	output, err := c.command(prefix, arguments)
	if err != nil {
		return nil, err
	}
	var entries []struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(output, &entries); err != nil {
		return nil, fmt.Errorf("%s: %w", prefix, err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name)
	}
	return out, nil
}

// dumpSubvolume asks the mgr for what it says of it, without counters and mons. A refusal is an answer, too:
// that is how clones in flight and retained subvolumes look.
func (c *Ceph) dumpSubvolume(d *collector, filesystem, group, name string) error {
	in := map[string]any{"vol_name": filesystem, "group_name": group, "sub_name": name}
	title := fmt.Sprintf("%s subvolume %s/%s", filesystem, group, name)
	for _, prefix := range []string{"fs subvolume info", "fs subvolume metadata ls"} {
		d.add(title+" "+prefix, c.answer(prefix, in))
	}
	d.add(title+" clone status", c.answer("fs clone status", map[string]any{"vol_name": filesystem, "group_name": group, "clone_name": name}))
	snapshots, err := c.names("fs subvolume snapshot ls", in)
	if err != nil {
		d.add(title+" snapshots", err.Error())
		return nil
	}
	for _, s := range snapshots {
		in["snap_name"] = s
		for _, prefix := range []string{"fs subvolume snapshot info", "fs subvolume snapshot metadata ls"} {
			d.add(title+"@"+s+" "+prefix, c.answer(prefix, in))
		}
	}
	return nil
}

func (c *Ceph) answer(prefix string, arguments map[string]any) string {
	output, err := c.command(prefix, arguments)
	if err != nil {
		return err.Error()
	}
	var fields map[string]any
	if err := json.Unmarshal(output, &fields); err != nil {
		return string(output)
	}
	delete(fields, "atime")
	delete(fields, "mon_addrs")
	text, err := json.Marshal(fields)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
