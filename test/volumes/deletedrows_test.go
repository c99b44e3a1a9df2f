package volumes

var deletedImages = map[string]layout{
	"DeletedParentOfClone": {
		make: func(l *lab) error {
			source := l.image("web")
			must(l.CloneImage(source, "copy"))
			return source.Delete()
		},
		want: `
			trash csi-vol-<web>: features 257, 8 MiB, order 22
			TAGV web
			  trash snapshot <random>, was csi-vol-<copy>-temp
			image csi-vol-<copy>-temp: features 289, 8 MiB, order 22, parent csi-vol-<web>@<random> (trash)
			  trash snapshot <random>, was csi-vol-<copy>
			image csi-vol-<copy>: features 257, 8 MiB, order 22, parent csi-vol-<copy>-temp@<random>
			TAGV copy
			J copy
			csi.volumes.default
			  csi.volume.pvc-<copy> = <copy>
			task of the mgr: trash remove <id of csi-vol-<web>>`,
	},
	"DeletedCloneWithClone": {
		make: func(l *lab) error {
			first := must(l.CloneImage(l.image("web"), "copy"))
			must(l.CloneImage(first, "again"))
			return first.Delete()
		},
		want: `
			image csi-vol-<web>: features 257, 8 MiB, order 22
			TAGV web
			  trash snapshot <random>, was csi-vol-<copy>-temp
			trash csi-vol-<copy>-temp: features 289, 8 MiB, order 22, parent csi-vol-<web>@<random>
			  trash snapshot <random>, was csi-vol-<copy>
			trash csi-vol-<copy>: features 257, 8 MiB, order 22, parent csi-vol-<copy>-temp@<random> (trash)
			TAGV copy
			  trash snapshot <random>, was csi-vol-<again>-temp
			image csi-vol-<again>-temp: features 289, 8 MiB, order 22, parent csi-vol-<copy>@<random> (trash)
			  trash snapshot <random>, was csi-vol-<again>
			image csi-vol-<again>: features 257, 8 MiB, order 22, parent csi-vol-<again>-temp@<random>
			TAGV again
			J web
			J again
			csi.volumes.default
			  csi.volume.pvc-<again> = <again>
			  csi.volume.pvc-<web> = <web>
			task of the mgr: trash remove <id of csi-vol-<copy>>
			task of the mgr: trash remove <id of csi-vol-<copy>-temp>`,
	},
	"DeletedSnapshotWithRestore": {
		make: func(l *lab) error {
			s := l.snapshot(l.image("web"), "snap")
			must(l.Restore(s, l.class, "restored"))
			return s.Delete()
		},
		want: `
			image csi-vol-<web>: features 257, 8 MiB, order 22
			TAGV web
			  trash snapshot <random>, was csi-snap-<snap>
			trash csi-snap-<snap>: features 289, 8 MiB, order 22, parent csi-vol-<web>@<random>
			TAGS snap
			  trash snapshot <random>, was csi-snap-<snap>
			image csi-vol-<restored>: features 257, 8 MiB, order 22, parent csi-snap-<snap>@<random> (trash)
			TAGV restored
			J web
			J restored
			csi.volumes.default
			  csi.volume.pvc-<restored> = <restored>
			  csi.volume.pvc-<web> = <web>
			csi.snaps.default
			task of the mgr: trash remove <id of csi-snap-<snap>>`,
	},
	"DeletedParentOfSnapshot": {
		make: func(l *lab) error {
			source := l.image("web")
			l.snapshot(source, "snap")
			return source.Delete()
		},
		want: `
			trash csi-vol-<web>: features 257, 8 MiB, order 22
			TAGV web
			  trash snapshot <random>, was csi-snap-<snap>
			image csi-snap-<snap>: features 289, 8 MiB, order 22, parent csi-vol-<web>@<random> (trash)
			TAGS snap
			  snapshot csi-snap-<snap>, protected false
			JS snap
			csi.volumes.default
			csi.snaps.default
			  csi.snap.snapshot-<snap> = <snap>
			task of the mgr: trash remove <id of csi-vol-<web>>`,
	},
	"DeletedVolume": {
		make:    func(l *lab) error { return l.image("web").Delete() },
		settles: true,
		want:    `csi.volumes.default`,
	},
	"DeletedSnapshot": {
		make:    func(l *lab) error { return l.snapshot(l.image("web"), "snap").Delete() },
		settles: true,
		want: `
			image csi-vol-<web>: features 1, 8 MiB, order 22
			TAGV web
			J web
			csi.volumes.default
			  csi.volume.pvc-<web> = <web>
			csi.snaps.default`,
	},
}
