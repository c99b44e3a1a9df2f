package volumes

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ceph/go-ceph/rados"
	"github.com/ceph/go-ceph/rbd"
)

// describe reads with librbd and librados, and not with the generator, what lies in a place.
// Names that are drawn stand in angle brackets: <web> for the uuid of the claim or snapshot web,
// <id of …> for an image's, <random> for what librbd drew.
func describe(c *Ceph, p Place, labels *strings.Replacer) (string, error) {
	ioctx, err := c.at(p)
	if err != nil {
		return "", err
	}
	var lines []string
	ids := map[string]string{}
	names, err := rbd.GetImageNames(ioctx)
	if err != nil {
		return "", err
	}
	for _, name := range names {
		err := withImage(ioctx, name, func(image *rbd.Image) error {
			text, err := describeImage(image, "image "+name, ids, name)
			lines = append(lines, text)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	trash, err := rbd.GetTrashList(ioctx)
	if err != nil {
		return "", err
	}
	for _, entry := range trash {
		image, err := rbd.OpenImageByIdReadOnly(ioctx, entry.Id, rbd.NoSnapshot)
		if err != nil {
			return "", fmt.Errorf("%s in the trash: %w", entry.Name, err)
		}
		text, err := describeImage(image, "trash "+entry.Name, ids, entry.Name)
		if err := errors.Join(err, image.Close()); err != nil {
			return "", err
		}
		lines = append(lines, text)
	}
	others, err := describeOthers(c, p)
	if err != nil {
		return "", err
	}
	omaps := strings.Join(others, "")
	for id, name := range ids {
		omaps = strings.ReplaceAll(omaps, id, "<id of "+name+">")
	}
	text := labels.Replace(strings.Join(lines, "") + omaps)
	return random.ReplaceAllString(text, "<random>"), nil
}

var random = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

func describeImage(image *rbd.Image, title string, ids map[string]string, name string) (string, error) {
	features, err := image.GetFeatures()
	if err != nil {
		return "", err
	}
	id, err := image.GetId()
	if err != nil {
		return "", err
	}
	ids[id] = name
	stat, err := image.Stat()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: features %d, %d MiB, order %d", title, features, stat.Size>>20, stat.Order)
	if data := strings.TrimSuffix(stat.Block_name_prefix, "."+id); data != "rbd_data" {
		fmt.Fprintf(&b, ", data in another pool")
	}
	if parent, err := image.GetParent(); err == nil {
		fmt.Fprintf(&b, ", parent %s@%s", parent.Image.ImageName, parent.Snap.SnapName)
		if parent.Image.Trash {
			b.WriteString(" (trash)")
		}
	}
	b.WriteString("\n")
	metadata, err := image.ListMetadata()
	if err != nil {
		return "", err
	}
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		fmt.Fprintf(&b, "  %s = %s\n", key, metadata[key])
	}
	snapshots, err := image.GetSnapshotNames()
	if err != nil {
		return "", err
	}
	for _, s := range snapshots {
		text, err := describeSnapshot(image, s)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

func describeSnapshot(image *rbd.Image, s rbd.SnapInfo) (string, error) {
	space, err := image.GetSnapNamespaceType(s.Id)
	if err != nil {
		return "", err
	}
	switch space {
	case rbd.SnapNamespaceTypeTrash:
		original, err := image.GetSnapTrashNamespace(s.Id)
		return fmt.Sprintf("  trash snapshot %s, was %s\n", s.Name, original), err
	case rbd.SnapNamespaceTypeGroup:
		return "  group snapshot\n", nil
	}
	protected, err := image.GetSnapshot(s.Name).IsProtected()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("  snapshot %s, protected %t\n", s.Name, protected), nil
}

// describeOthers shows what is no image: journals, groups and the mgr's tasks.
func describeOthers(c *Ceph, p Place) ([]string, error) {
	here, err := c.at(p)
	if err != nil {
		return nil, err
	}
	elsewhere, err := c.at(Place{p.Pool, p.Namespace + "-other"})
	if err != nil {
		return nil, err
	}
	journals, err := describeJournals(here)
	if err != nil {
		return nil, err
	}
	scattered, err := describeJournals(elsewhere)
	if err != nil {
		return nil, err
	}
	groups, err := rbd.GroupList(here)
	if err != nil {
		return nil, err
	}
	out := []string{journals, regexp.MustCompile("(?m)^csi").ReplaceAllString(scattered, "elsewhere csi")}
	for _, group := range groups {
		members, err := rbd.GroupImageList(here, group)
		if err != nil {
			return nil, err
		}
		for _, member := range members {
			out = append(out, fmt.Sprintf("group %s: %s\n", group, member.Name))
		}
	}
	tasks, err := describeTasks(here)
	return append(out, tasks...), err
}

func describeTasks(ioctx *rados.IOContext) ([]string, error) {
	tasks, err := ioctx.GetAllOmapValues("rbd_task", "", "", 100)
	if err != nil && !errors.Is(err, rados.ErrNotFound) {
		return nil, err
	}
	var out []string
	for _, text := range tasks {
		var task struct {
			Refs struct {
				Action string `json:"action"`
				ID     string `json:"image_id"`
			} `json:"refs"`
		}
		if err := json.Unmarshal(text, &task); err != nil {
			return nil, fmt.Errorf("task %s: %w", text, err)
		}
		out = append(out, fmt.Sprintf("task of the mgr: %s %s\n", task.Refs.Action, task.Refs.ID))
	}
	return out, nil
}

// describeJournals shows what ceph-csi alone writes.
func describeJournals(ioctx *rados.IOContext) (string, error) {
	var objects []string
	if err := ioctx.ListObjects(func(name string) { objects = append(objects, name) }); err != nil {
		return "", err
	}
	slices.Sort(objects)
	var b strings.Builder
	for _, object := range objects {
		if !strings.HasPrefix(object, "csi.") {
			continue
		}
		values, err := ioctx.GetAllOmapValues(object, "", "", 100)
		if err != nil {
			return "", err
		}
		stat, err := ioctx.Stat(object)
		if err != nil {
			return "", err
		}
		xattrs, err := ioctx.ListXattrs(object)
		if err != nil || stat.Size != 0 || len(xattrs) != 0 {
			return "", fmt.Errorf("%s: %w, %d bytes, xattrs %v: a journal has omaps only", object, err, stat.Size, xattrs)
		}
		fmt.Fprintf(&b, "%s\n", object)
		for _, key := range slices.Sorted(maps.Keys(values)) {
			fmt.Fprintf(&b, "  %s = %s\n", key, values[key])
		}
	}
	return b.String(), nil
}
