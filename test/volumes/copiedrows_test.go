package volumes

// A full copy has the tags of its original, and no journal.
const backedUp = `
			image csi-vol-<web>: features 1, 8 MiB, order 22
			TAGV web
			image backup: features 1, 8 MiB, order 22
			TAGV web
			J web
			csi.volumes.default
			  csi.volume.pvc-<web> = <web>`

var copiedImages = map[string]layout{
	"Copy": {
		make: func(l *lab) error { return l.image("web").Copy("backup") },
		want: backedUp,
	},
	"DeepCopy": {
		make: func(l *lab) error { return l.image("web").DeepCopy("backup") },
		want: backedUp,
	},
	"AdminsClone1": {
		make: func(l *lab) error { return l.image("web").AdminsClone("mine", 1) },
		want: `
			image csi-vol-<web>: features 1, 8 MiB, order 22
			TAGV web
			  snapshot for-mine, protected true
			image mine: features 1, 8 MiB, order 22, parent csi-vol-<web>@for-mine
			TAGV web
			J web
			csi.volumes.default
			  csi.volume.pvc-<web> = <web>`,
	},
	"AdminsClone2": {
		make: func(l *lab) error { return l.image("web").AdminsClone("mine", 2) },
		want: `
			image csi-vol-<web>: features 257, 8 MiB, order 22
			TAGV web
			  snapshot for-mine, protected false
			image mine: features 257, 8 MiB, order 22, parent csi-vol-<web>@for-mine
			TAGV web
			J web
			csi.volumes.default
			  csi.volume.pvc-<web> = <web>`,
	},
	"CreatedByHand": {
		make: func(l *lab) error { return l.ceph.CreateImage(l.class.Place, "mine") },
		want: `image mine: features 1, 8 MiB, order 22`,
	},
}

var groupedImages = map[string]layout{
	"UnfinishedGroup": {
		make: func(l *lab) error { _, err := l.UnfinishedImageGroup(l.class.Place, "group"); return err },
		want: groupJournals,
	},
	"Group": {
		make: func(l *lab) error {
			return must(l.ImageGroup("group", l.image("web"))).Snapshot("now")
		},
		want: groupJournals + `
			image csi-vol-<web>: features 257, 8 MiB, order 22
			TAGV web
			  group snapshot
			J web
			csi.volumes.default
			  csi.volume.pvc-<web> = <web>
			group csi-vol-group-<group>: csi-vol-<web>`,
	},
}

const groupJournals = `
	csi.groups.default
	  csi.volume.group.groupsnapshot-<group> = <group>
	csi.volume.group.<group>
	  csi.creationtime = 2026-01-02T03:04:05.000000678Z
	  csi.groupname = csi-vol-group-<group>
	  csi.volname = groupsnapshot-<group>`
