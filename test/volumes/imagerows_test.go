package volumes

var plainImages = map[string]layout{
	"Plain": {
		make: func(l *lab) error { l.image("web"); return nil },
		want: `
			image csi-vol-<web>: features 1, 8 MiB, order 22
			TAGV web
			J web
			csi.volumes.default
			  csi.volume.pvc-<web> = <web>`,
	},
	"NoImageFeatures": {
		make: func(l *lab) error {
			l.class.Features = CephsOwn
			return l.image("web").Write(4096)
		},
		want: `
			image csi-vol-<web>: features 61, 8 MiB, order 22
			TAGV web
			J web
			csi.volumes.default
			  csi.volume.pvc-<web> = <web>`,
	},
	"DataPool": {
		make: func(l *lab) error {
			l.class.DataPool = "fast"
			return l.image("web").Write(4096)
		},
		want: `
			image csi-vol-<web>: features 129, 8 MiB, order 22, data in another pool
			TAGV web
			J web
			csi.volumes.default
			  csi.volume.pvc-<web> = <web>`,
	},
	"Prefix": {
		make: func(l *lab) error {
			l.class.Prefix = "shop-"
			l.image("web")
			return nil
		},
		want: `
			image shop-<web>: features 1, 8 MiB, order 22
			TAGV web
			csi.volume.<web>
			  csi.imageid = <id of shop-<web>>
			  csi.imagename = shop-<web>
			  csi.volname = pvc-<web>
			  csi.volume.owner = shop
			csi.volumes.default
			  csi.volume.pvc-<web> = <web>`,
	},
	"SplitJournal": {
		make: func(l *lab) error {
			if err := l.ceph.CreateNamespace(Place{"fast", l.class.Namespace}); err != nil {
				return err
			}
			return l.image("web").SplitJournal("fast")
		},
		want: `
			image csi-vol-<web>: features 1, 8 MiB, order 22
			TAGV web
			csi.volume.<web>
			csi.volumes.default`,
	},
	"InstanceID": {
		make: func(l *lab) error {
			l.Instance = "shop"
			l.image("web")
			return nil
		},
		want: `
			image csi-vol-<web>: features 1, 8 MiB, order 22
			TAGV web
			J web
			csi.volumes.shop
			  csi.volume.pvc-<web> = <web>`,
	},
	"Encrypted": {
		make: func(l *lab) error {
			l.class.Encrypted = true
			l.image("web")
			return nil
		},
		want: `
			image csi-vol-<web>: features 1, 8 MiB, order 22
			TAGV web
			  rbd.csi.ceph.com/encrypted = encryptionPrepared
			csi.volume.<web>
			  csi.imageid = <id of csi-vol-<web>>
			  csi.imagename = csi-vol-<web>
			  csi.volname = pvc-<web>
			  csi.volume.encryptKMS = default
			  csi.volume.encryptionType = block
			  csi.volume.owner = shop
			csi.volumes.default
			  csi.volume.pvc-<web> = <web>`,
	},
	"Expanded": {
		make: func(l *lab) error { return l.image("web").Expand(16 << 20) },
		want: `
			image csi-vol-<web>: features 1, 16 MiB, order 22
			TAGV web
			J web
			csi.volumes.default
			  csi.volume.pvc-<web> = <web>`,
	},
	"Untagged": {
		make: func(l *lab) error { return l.image("web").Untag() },
		want: `
			image csi-vol-<web>: features 1, 8 MiB, order 22
			J web
			csi.volumes.default
			  csi.volume.pvc-<web> = <web>`,
	},
}
