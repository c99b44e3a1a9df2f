package volumes

var plainSubvolumes = map[string]fileLayout{
	"FilePlain": {
		make: func(l *fileLab) error { l.volume("web"); return nil },
		want: oneSubvolume,
	},
	"FileExpanded": {
		make: func(l *fileLab) error { return l.volume("web").Expand(16 << 20) },
		want: `
			subvolume csi-vol-<web>: subvolume, complete, quota 1.6777216e+07
			TAGV web
			JF web
			csi.volumes.default
			  csi.volume.pvc-<web> = <web>`,
	},
	"FilePrefix": {
		make: func(l *fileLab) error {
			l.class.Prefix = "shop-"
			l.volume("web")
			return nil
		},
		want: `
			subvolume shop-<web>: subvolume, complete, quota 8.388608e+06
			TAGV web
			csi.volume.<web>
			  csi.imagename = shop-<web>
			  csi.volname = pvc-<web>
			  csi.volume.owner = shop
			csi.volumes.default
			  csi.volume.pvc-<web> = <web>`,
	},
	"FileUntagged": {
		make: func(l *fileLab) error { return l.volume("web").Untag() },
		want: `
			subvolume csi-vol-<web>: subvolume, complete, quota 8.388608e+06
			JF web
			csi.volumes.default
			  csi.volume.pvc-<web> = <web>`,
	},
	"FileUnfinished": {
		make: func(l *fileLab) error { _, err := l.UnfinishedSubvolume(l.class, "web"); return err },
		want: `
			subvolume csi-vol-<web>: subvolume, complete, quota 8.388608e+06
			JF web
			csi.volumes.default
			  csi.volume.pvc-<web> = <web>`,
	},
	"FileReserved": {
		make: func(l *fileLab) error { _, err := l.ReservedSubvolume(l.class, "web"); return err },
		want: `
			JF web
			csi.volumes.default
			  csi.volume.pvc-<web> = <web>`,
	},
	"FileDeleted": {
		make: func(l *fileLab) error { return l.volume("web").Delete() },
		want: `csi.volumes.default`,
	},
	"FileGroup": {
		make: func(l *fileLab) error { return l.UnfinishedFileGroup(l.class, "group") },
		want: groupJournals,
	},
	"FileGroupOfSnapshots": {
		make: func(l *fileLab) error { return l.FileGroup("group", l.snapshot(l.volume("web"), "snap")) },
		want: oneSnapshot + groupJournals + `
			  <handle of web> = <handle of snap>`,
	},
}

const oneSubvolume = `
	subvolume csi-vol-<web>: subvolume, complete, quota 8.388608e+06
	TAGV web
	JF web
	csi.volumes.default
	  csi.volume.pvc-<web> = <web>`

const oneSnapshot = `
	subvolume csi-vol-<web>: subvolume, complete, quota 8.388608e+06
	TAGV web
	snapshot csi-snap-<snap> of csi-vol-<web>: pending clones no
	TAGS snap
	JF web
	JFS snap
	csi.snaps.default
	  csi.snap.snapshot-<snap> = <snap>
	csi.volumes.default
	  csi.volume.pvc-<web> = <web>`

var subvolumesWithSnapshots = map[string]fileLayout{
	"FileSnapshot": {
		make: func(l *fileLab) error { l.snapshot(l.volume("web"), "snap"); return nil },
		want: oneSnapshot,
	},
	"FileDeletedSnapshot": {
		make: func(l *fileLab) error { return l.snapshot(l.volume("web"), "snap").Delete() },
		want: oneSubvolume + `
			csi.snaps.default`,
	},
	"FileRestore": {
		make: func(l *fileLab) error {
			_, err := l.RestoreSubvolume(l.snapshot(l.volume("web"), "snap"), l.class, "restored")
			return err
		},
		want: oneSnapshot + `
			subvolume csi-vol-<restored>: clone, complete, quota 8.388608e+06
			TAGV restored
			JF restored
			csi.volumes.default
			  csi.volume.pvc-<restored> = <restored>`,
	},
	"FileClone": {
		make: func(l *fileLab) error { _, err := l.CloneSubvolume(l.volume("web"), "copy"); return err },
		want: oneSubvolume + `
			subvolume csi-vol-<copy>: clone, complete, quota 8.388608e+06
			TAGV copy
			JF copy
			csi.volumes.default
			  csi.volume.pvc-<copy> = <copy>`,
	},
	"FileCloneOfClone": {
		make: func(l *fileLab) error {
			_, err := l.CloneSubvolume(must(l.CloneSubvolume(l.volume("web"), "copy")), "again")
			return err
		},
		want: oneSubvolume + `
			subvolume csi-vol-<copy>: clone, complete, quota 8.388608e+06
			TAGV copy
			JF copy
			subvolume csi-vol-<again>: clone, complete, quota 8.388608e+06
			TAGV again
			JF again
			csi.volumes.default
			  csi.volume.pvc-<copy> = <copy>
			  csi.volume.pvc-<again> = <again>`,
	},
	"FileRetained": {
		make: func(l *fileLab) error {
			source := l.volume("web")
			l.snapshot(source, "snap")
			return source.Delete()
		},
		want: `
			subvolume csi-vol-<web>: subvolume, snapshot-retained, quota <nil>
			snapshot csi-snap-<snap> of csi-vol-<web>: pending clones no
			JFS snap
			csi.snaps.default
			  csi.snap.snapshot-<snap> = <snap>
			csi.volumes.default`,
	},
	"FileRetainedGone": {
		make: func(l *fileLab) error {
			source := l.volume("web")
			s := l.snapshot(source, "snap")
			if err := source.Delete(); err != nil {
				return err
			}
			return s.Delete()
		},
		want: `
			csi.snaps.default
			csi.volumes.default`,
	},
	"FileShallow": {
		make: func(l *fileLab) error {
			_, err := l.Shallow(l.snapshot(l.volume("web"), "snap"), "copy")
			return err
		},
		want: oneSnapshot + `
			SHALLOW copy
			rt-backingsnapshot-<handle of snap>
			  = "\x00\x00\x00\x02"
			  <handle of snap> = "\x01"
			  csi-vol-<copy> = "\x01"
			  xattr csi.ceph.com/rt-version = "\x00\x00\x00\x01"`,
	},
	"FileShallowOfDeleted": {
		make: func(l *fileLab) error {
			s := l.snapshot(l.volume("web"), "snap")
			must(l.Shallow(s, "copy"))
			return s.Delete()
		},
		want: oneSnapshot + `
			SHALLOW copy
			rt-backingsnapshot-<handle of snap>
			  = "\x00\x00\x00\x01"
			  <handle of snap> = "\x02"
			  csi-vol-<copy> = "\x01"
			  xattr csi.ceph.com/rt-version = "\x00\x00\x00\x01"`,
	},
	"FileShallowDeleted": {
		make: func(l *fileLab) error { return must(l.Shallow(l.snapshot(l.volume("web"), "snap"), "copy")).Delete() },
		want: oneSnapshot + `
			rt-backingsnapshot-<handle of snap>
			  = "\x00\x00\x00\x01"
			  <handle of snap> = "\x01"
			  xattr csi.ceph.com/rt-version = "\x00\x00\x00\x01"`,
	},
	"FileShallowBothDeleted": {
		make: func(l *fileLab) error {
			s := l.snapshot(l.volume("web"), "snap")
			v := must(l.Shallow(s, "copy"))
			if err := s.Delete(); err != nil {
				return err
			}
			return v.Delete()
		},
		want: oneSubvolume + `
			csi.snaps.default`,
	},
}

var pendingSubvolumes = map[string]fileLayout{
	"PendingClone": {
		make: func(l *fileLab) error { _, err := l.PendingClone(l.volume("web"), "copy"); return err },
		want: `
			subvolume csi-vol-<copy>: <nil>, <nil>, quota <nil>
			  clone status = pending
			snapshot csi-vol-<copy> of csi-vol-<web>: pending clones yes
			JF copy
			csi.volumes.default
			  csi.volume.pvc-<copy> = <copy>` + oneSubvolume,
	},
	"PendingRestore": {
		make: func(l *fileLab) error {
			_, err := l.PendingRestore(l.snapshot(l.volume("web"), "snap"), l.class, "copy")
			return err
		},
		want: `
			subvolume csi-vol-<copy>: <nil>, <nil>, quota <nil>
			  clone status = pending
			JF copy
			csi.volumes.default
			  csi.volume.pvc-<copy> = <copy>` + pendingSource,
	},
}

const pendingSource = `
	subvolume csi-vol-<web>: subvolume, complete, quota 8.388608e+06
	TAGV web
	snapshot csi-snap-<snap> of csi-vol-<web>: pending clones yes
	TAGS snap
	JF web
	JFS snap
	csi.snaps.default
	  csi.snap.snapshot-<snap> = <snap>
	csi.volumes.default
	  csi.volume.pvc-<web> = <web>`
