package tags

// showing is what is known of the volumes that show a snapshot, and have nothing of their own: what takes the tag of
// such a volume takes the snapshot's. Ceph alone tells which snapshot that is.
type showing struct {
	// snapshots are UUIDs, by the names of the PersistentVolumes.
	snapshots map[string]string
	// untagged are the UUIDs of those whose tag may be gone.
	untagged map[string]bool
}

func newShowing() showing {
	return showing{snapshots: map[string]string{}, untagged: map[string]bool{}}
}

// saw records which snapshot a volume shows. It says whether that is to be looked at: it has no tag, and the volume may
// have been detached before anything was known of it.
func (s *showing) saw(volume, snapshot string, tagged bool) bool {
	known := s.snapshots[volume] == snapshot
	s.snapshots[volume] = snapshot
	if tagged || known {
		return false
	}
	s.untagged[snapshot] = true
	return true
}

// take are the snapshots to look at after volumes were detached. Of volumes that are gone, it is known until then.
func (s *showing) take(detached map[string]bool, gone func(volume string) bool) map[string]bool {
	taken := s.untagged
	s.untagged = map[string]bool{}
	for volume, snapshot := range s.snapshots {
		if detached[volume] {
			taken[snapshot] = true
		}
		if gone(volume) {
			delete(s.snapshots, volume)
		}
	}
	return taken
}
