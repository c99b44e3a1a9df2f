package volumes

import "time"

// UnfinishedFileGroup is what CreateVolumeGroupSnapshot of the CephFS driver leaves with Ceph
// 16.2.15, which cannot do it: the journal.
func (c *Cluster) UnfinishedFileGroup(class FileClass, name string) error {
	ioctx, err := c.ceph.at(class.Journal())
	if err != nil {
		return err
	}
	id := c.uuid("group", name)
	c.note(id)
	r := request{uuid: id, instance: c.Instance, name: "groupsnapshot-" + c.uuid("grouprequest", name)}
	more := map[string]string{createdKey: groupTime.Format(time.RFC3339Nano)}
	return groupJournal.reserve(ioctx, r, groupNamePrefix+id, more)
}

// Quiesce has clients of subvolumes hold still, which Ceph can do since 19.2, and lets them go on.
func (c *Ceph) Quiesce(class FileClass, set string, subvolumes []string) error {
	var members []string
	for _, name := range subvolumes {
		members = append(members, class.group()+"/"+name)
	}
	hold := map[string]any{"vol_name": class.Filesystem, "members": members, "set_id": set, "timeout": 180, "expiration": 180}
	if _, err := c.command("fs quiesce", hold); err != nil {
		return err
	}
	_, err := c.command("fs quiesce", map[string]any{"vol_name": class.Filesystem, "set_id": set, "release": true})
	return err
}
