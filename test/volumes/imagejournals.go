package volumes

// Scatter moves keys of the journal's object, and the directory's key if withKey, into another
// RADOS namespace of the pool.
func (i *Image) Scatter(namespace string, withKey bool, keys ...string) error {
	from, err := i.cluster.ceph.at(i.Class.Place)
	if err != nil {
		return err
	}
	to, err := i.cluster.ceph.at(Place{i.Class.Pool, namespace})
	if err != nil {
		return err
	}
	return volumeJournal.scatter(from, to, i.request, keys, withKey)
}

// SplitJournal moves the journal into another pool, where ceph-csi before 3.11 kept those of images
// that topologyConstrainedPools had put elsewhere. The image's pool keeps an object without keys.
func (i *Image) SplitJournal(pool string) error {
	from, err := i.cluster.ceph.at(i.Class.Place)
	if err != nil {
		return err
	}
	to, err := i.cluster.ceph.at(Place{pool, i.Class.Namespace})
	if err != nil {
		return err
	}
	return volumeJournal.split(from, to, i.request)
}
