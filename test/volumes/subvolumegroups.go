package volumes

import (
	"encoding/json"
	"maps"
	"time"
)

// UnfinishedFileGroup is what CreateVolumeGroupSnapshot of the CephFS driver leaves with Ceph
// 16.2.15, which cannot do it: the journal.
func (c *Cluster) UnfinishedFileGroup(class FileClass, name string) error {
	return c.fileGroup(class, name, map[string]string{})
}

// FileGroup is a snapshot of several volumes, made of one of each.
func (c *Cluster) FileGroup(name string, snapshots ...*SubvolumeSnapshot) error {
	members := map[string]string{}
	for _, s := range snapshots {
		volume, err := s.Source.Handle()
		if err != nil {
			return err
		}
		if members[volume], err = s.Handle(); err != nil {
			return err
		}
	}
	return c.fileGroup(snapshots[0].Source.Class, name, members)
}

func (c *Cluster) fileGroup(class FileClass, name string, more map[string]string) error {
	ioctx, err := c.ceph.at(class.Journal())
	if err != nil {
		return err
	}
	id := c.uuid("group", name)
	c.note(id)
	r := request{uuid: id, instance: c.Instance, name: "groupsnapshot-" + c.uuid("grouprequest", name)}
	more[createdKey] = groupTime.Format(time.RFC3339Nano)
	return groupJournal.reserve(ioctx, r, groupNamePrefix+id, more)
}

// Member is how Quiesce names the subvolume.
func (v *Subvolume) Member() string { return v.Class.group() + "/" + v.Name }

// Quiesce has clients of a set of subvolumes hold still, or go on, as more says, and tells the state of the set. Ceph
// can do so since 19.2.
func (c *Ceph) Quiesce(filesystem, set string, more map[string]any) (string, error) {
	arguments := map[string]any{"vol_name": filesystem, "set_id": set}
	maps.Copy(arguments, more)
	output, err := c.command("fs quiesce", arguments)
	if err != nil {
		return "", err
	}
	var answer struct {
		Sets map[string]struct {
			State struct {
				Name string `json:"name"`
			} `json:"state"`
		} `json:"sets"`
	}
	err = json.Unmarshal(output, &answer)
	return answer.Sets[set].State.Name, err
}
