package teardown

import (
	"fmt"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Living are the volumes and snapshots that objects of living clusters name.
type Living struct {
	// by UUID, and by name for volumes whose handle was not made up by ceph-csi.
	uuids, names map[string]string
}

// NewLiving returns an empty set.
func NewLiving() *Living { return &Living{uuids: map[string]string{}, names: map[string]string{}} }

// Add notes what an object names: its handle, and names of an image or subvolume. whose says which
// object it is, such as "PersistentVolume pv-1 of cluster b".
func (l *Living) Add(whose, handle string, names ...string) {
	if parsed, err := ceph.ParseVolumeHandle(handle); err == nil {
		l.uuids[parsed.UUID] = whose
	}
	// Of a static volume, the handle is any name, often that of the image.
	for _, name := range append(names, handle) {
		name = ceph.SnapshotShown(name)
		if name != "" {
			l.names[name] = whose
		}
		if parsed, ok := ceph.ParseCSIName(name); ok {
			l.uuids[parsed.UUID] = whose
		}
	}
}

// Names says which object names an item; "" means none. A UUID is made up once: where it lies does
// not matter.
func (l *Living) Names(i Item) string {
	if whose := l.uuids[i.UUID]; i.UUID != "" && whose != "" {
		return whose
	}
	return l.names[i.Name]
}

// Len is how many names there are.
func (l *Living) Len() int { return len(l.uuids) + len(l.names) }

// ParseHandles reads a list of volume handles, one in each line with perhaps the name of its
// PersistentVolume behind it; lines that start with "#" are skipped. source is where it comes from.
func ParseHandles(text, source string) *Living {
	living := NewLiving()
	for _, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		whose := source
		if len(words) > 1 {
			whose = fmt.Sprintf("PersistentVolume %s in %s", words[1], source)
		}
		living.Add(whose, words[0])
	}
	return living
}
