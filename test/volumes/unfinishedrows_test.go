package volumes

var unfinishedImages = map[string]layout{
	"CrashBeforeTags": {
		make: func(l *lab) error { _, err := l.UnfinishedImage(l.class, "web"); return err },
		want: `
			image csi-vol-<web>: features 1, 8 MiB, order 22
			csi.volume.<web>
			  csi.imagename = csi-vol-<web>
			  csi.volname = pvc-<web>
			  csi.volume.owner = shop
			csi.volumes.default
			  csi.volume.pvc-<web> = <web>`,
	},
	"CloneCrashReserved": {
		make: func(l *lab) error { _, err := l.UnfinishedClone(l.image("web"), "copy", CrashReserved); return err },
		want: `
			image csi-vol-<web>: features 1, 8 MiB, order 22
			TAGV web` + unfinishedJournals,
	},
	"CloneCrashTemp": {
		make: func(l *lab) error { _, err := l.UnfinishedClone(l.image("web"), "copy", CrashTemp); return err },
		want: `
			image csi-vol-<web>: features 257, 8 MiB, order 22
			TAGV web
			  trash snapshot <random>, was csi-vol-<copy>-temp
			image csi-vol-<copy>-temp: features 289, 8 MiB, order 22, parent csi-vol-<web>@<random>` + unfinishedJournals,
	},
	"CloneCrashInherited": {
		make: func(l *lab) error { _, err := l.UnfinishedClone(l.image("web"), "copy", CrashInherited); return err },
		want: `
			image csi-vol-<web>: features 257, 8 MiB, order 22
			TAGV web
			  trash snapshot <random>, was csi-vol-<copy>-temp
			image csi-vol-<copy>-temp: features 289, 8 MiB, order 22, parent csi-vol-<web>@<random>
			TAGV web` + unfinishedJournals,
	},
	"CloneCrashUntagged": {
		make: func(l *lab) error { _, err := l.UnfinishedClone(l.image("web"), "copy", CrashUntagged); return err },
		want: `
			image csi-vol-<web>: features 257, 8 MiB, order 22
			TAGV web
			  trash snapshot <random>, was csi-vol-<copy>-temp
			image csi-vol-<copy>-temp: features 289, 8 MiB, order 22, parent csi-vol-<web>@<random>
			  snapshot csi-vol-<copy>, protected false
			image csi-vol-<copy>: features 257, 8 MiB, order 22, parent csi-vol-<copy>-temp@csi-vol-<copy>` + unfinishedJournals,
	},
	"RestoreCrash": {
		make: func(l *lab) error {
			_, err := l.UnfinishedRestore(l.snapshot(l.image("web"), "snap"), l.class, "copy")
			return err
		},
		want: `
			image csi-vol-<web>: features 257, 8 MiB, order 22
			TAGV web
			  trash snapshot <random>, was csi-snap-<snap>
			image csi-snap-<snap>: features 289, 8 MiB, order 22, parent csi-vol-<web>@<random>
			TAGS snap
			  snapshot csi-snap-<snap>, protected false
			image csi-vol-<copy>: features 257, 8 MiB, order 22, parent csi-snap-<snap>@csi-snap-<snap>
			TAGS snap
			JS snap
			csi.snaps.default
			  csi.snap.snapshot-<snap> = <snap>` + unfinishedJournals,
	},
	"Scattered": {
		make: func(l *lab) error {
			return l.image("web").Scatter(l.class.Namespace+"-other", true, "csi.imageid")
		},
		want: `
			image csi-vol-<web>: features 1, 8 MiB, order 22
			TAGV web
			csi.volume.<web>
			  csi.imagename = csi-vol-<web>
			  csi.volname = pvc-<web>
			  csi.volume.owner = shop
			csi.volumes.default
			elsewhere csi.volume.<web>
			  csi.imageid = <id of csi-vol-<web>>
			elsewhere csi.volumes.default
			  csi.volume.pvc-<web> = <web>`,
	},
	"ScatteredWholly": {
		make: func(l *lab) error {
			return l.image("web").Scatter(l.class.Namespace+"-other", false, "csi.imageid", "csi.imagename", "csi.volname", "csi.volume.owner")
		},
		want: `
			image csi-vol-<web>: features 1, 8 MiB, order 22
			TAGV web
			csi.volumes.default
			  csi.volume.pvc-<web> = <web>
			elsewhere csi.volume.<web>
			  csi.imageid = <id of csi-vol-<web>>
			  csi.imagename = csi-vol-<web>
			  csi.volname = pvc-<web>
			  csi.volume.owner = shop`,
	},
}

// unfinishedJournals are those of web, and of a copy whose making was interrupted.
const unfinishedJournals = `
	J web
	csi.volume.<copy>
	  csi.imagename = csi-vol-<copy>
	  csi.volname = pvc-<copy>
	  csi.volume.owner = shop
	csi.volumes.default
	  csi.volume.pvc-<copy> = <copy>
	  csi.volume.pvc-<web> = <web>`
