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
	return groupJournal.reserve(ioctx, r, "csi-vol-group-"+id, more)
}
