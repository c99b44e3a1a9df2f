package subvolumes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// copiedFrom: ceph-csi makes a clone of a volume through a snapshot with the clone's name.
func (p *plan) copiedFrom(snapshot string) bool {
	return slices.ContainsFunc(p.inventory.subvolumes, func(s subvolume) bool { return s.inFlight() && s.place.Name == snapshot })
}

// mountedAt are the hosts that have mounted a subvolume, sorted.
func (p *plan) mountedAt(place ceph.SubvolumePlace) []string {
	var hosts []string
	directory := "/volumes/" + cmp.Or(place.Group, "_nogroup") + "/" + place.Name
	for _, c := range p.inventory.clients {
		if c.Root == directory || strings.HasPrefix(c.Root, directory+"/") {
			hosts = append(hosts, fmt.Sprintf("%s (%s)", c.Host, c.Entity))
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}
