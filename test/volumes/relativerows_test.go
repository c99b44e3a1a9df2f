package volumes

var imagesWithRelatives = map[string]layout{
	"Snapshot": {
		make: func(l *lab) error {
			l.snapshot(l.image("web"), "snap")
			return nil
		},
		want: `
			image csi-vol-<web>: features 257, 8 MiB, order 22
			TAGV web
			  trash snapshot <random>, was csi-snap-<snap>
			image csi-snap-<snap>: features 289, 8 MiB, order 22, parent csi-vol-<web>@<random>
			TAGS snap
			  snapshot csi-snap-<snap>, protected false
			J web
			JS snap
			csi.volumes.default
			  csi.volume.pvc-<web> = <web>
			csi.snaps.default
			  csi.snap.snapshot-<snap> = <snap>`,
	},
	"SnapshotOfExpanded": {
		make: func(l *lab) error {
			source := l.image("web")
			l.snapshot(source, "snap")
			return source.Expand(16 << 20)
		},
		want: `
			image csi-vol-<web>: features 257, 16 MiB, order 22
			TAGV web
			  trash snapshot <random>, was csi-snap-<snap>
			image csi-snap-<snap>: features 289, 8 MiB, order 22, parent csi-vol-<web>@<random>
			TAGS snap
			  snapshot csi-snap-<snap>, protected false
			J web
			JS snap
			csi.volumes.default
			  csi.volume.pvc-<web> = <web>
			csi.snaps.default
			  csi.snap.snapshot-<snap> = <snap>`,
	},
	"SnapshotOfDataPool": {
		make: func(l *lab) error {
			l.class.DataPool = "fast"
			l.snapshot(l.image("web"), "snap")
			return nil
		},
		want: `
			image csi-vol-<web>: features 385, 8 MiB, order 22, data in another pool
			TAGV web
			  trash snapshot <random>, was csi-snap-<snap>
			image csi-snap-<snap>: features 289, 8 MiB, order 22, parent csi-vol-<web>@<random>
			TAGS snap
			  snapshot csi-snap-<snap>, protected false
			J web
			JS snap
			csi.volumes.default
			  csi.volume.pvc-<web> = <web>
			csi.snaps.default
			  csi.snap.snapshot-<snap> = <snap>`,
	},
	"Restore": {
		make: func(l *lab) error {
			_, err := l.Restore(l.snapshot(l.image("web"), "snap"), l.class, "restored")
			return err
		},
		want: `
			image csi-vol-<web>: features 257, 8 MiB, order 22
			TAGV web
			  trash snapshot <random>, was csi-snap-<snap>
			image csi-snap-<snap>: features 289, 8 MiB, order 22, parent csi-vol-<web>@<random>
			TAGS snap
			  snapshot csi-snap-<snap>, protected false
			image csi-vol-<restored>: features 257, 8 MiB, order 22, parent csi-snap-<snap>@csi-snap-<snap>
			TAGV restored
			J web
			JS snap
			J restored
			csi.volumes.default
			  csi.volume.pvc-<restored> = <restored>
			  csi.volume.pvc-<web> = <web>
			csi.snaps.default
			  csi.snap.snapshot-<snap> = <snap>`,
	},
	"Clone": {
		make: func(l *lab) error {
			_, err := l.CloneImage(l.image("web"), "copy")
			return err
		},
		want: clonedImages + `
			image csi-vol-<copy>: features 257, 8 MiB, order 22, parent csi-vol-<copy>-temp@<random>
			TAGV copy
			csi.volumes.default
			  csi.volume.pvc-<copy> = <copy>
			  csi.volume.pvc-<web> = <web>`,
	},
	"CloneOfDefaultFeatures": {
		make: func(l *lab) error {
			l.class.Features = CephsOwn
			_, err := l.CloneImage(l.image("web"), "copy")
			return err
		},
		want: `
			image csi-vol-<web>: features 317, 8 MiB, order 22
			TAGV web
			  trash snapshot <random>, was csi-vol-<copy>-temp
			image csi-vol-<copy>-temp: features 289, 8 MiB, order 22, parent csi-vol-<web>@<random>
			  trash snapshot <random>, was csi-vol-<copy>
			image csi-vol-<copy>: features 289, 8 MiB, order 22, parent csi-vol-<copy>-temp@<random>
			TAGV copy
			J web
			J copy
			csi.volumes.default
			  csi.volume.pvc-<copy> = <copy>
			  csi.volume.pvc-<web> = <web>`,
	},
	"CloneOfClone": {
		make: func(l *lab) error {
			_, err := l.CloneImage(must(l.CloneImage(l.image("web"), "copy")), "again")
			return err
		},
		want: clonedImages + `
			image csi-vol-<copy>: features 257, 8 MiB, order 22, parent csi-vol-<copy>-temp@<random>
			TAGV copy
			  trash snapshot <random>, was csi-vol-<again>-temp
			image csi-vol-<again>-temp: features 289, 8 MiB, order 22, parent csi-vol-<copy>@<random>
			  trash snapshot <random>, was csi-vol-<again>
			image csi-vol-<again>: features 257, 8 MiB, order 22, parent csi-vol-<again>-temp@<random>
			TAGV again
			J again
			csi.volumes.default
			  csi.volume.pvc-<again> = <again>
			  csi.volume.pvc-<copy> = <copy>
			  csi.volume.pvc-<web> = <web>`,
	},
}

// clonedImages are the source of a clone, its intermediate image and the journals.
const clonedImages = `
	image csi-vol-<web>: features 257, 8 MiB, order 22
	TAGV web
	  trash snapshot <random>, was csi-vol-<copy>-temp
	image csi-vol-<copy>-temp: features 289, 8 MiB, order 22, parent csi-vol-<web>@<random>
	  trash snapshot <random>, was csi-vol-<copy>
	J web
	J copy`
