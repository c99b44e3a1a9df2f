package driver

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

func pool(name string, applications ...string) ceph.Pool {
	return ceph.Pool{Name: name, Applications: applications}
}

func erasure(name string, applications ...string) ceph.Pool {
	return ceph.Pool{Name: name, Applications: applications, ErasureCoded: true}
}

func TestImagesPlace(t *testing.T) {
	const own = "infra-rbd"
	tests := map[string]struct {
		reason string
		ceph   fakeCeph
		wish   ceph.Placement
		want   string
		writes []string
		err    error
		text   []string
	}{
		"OwnPoolMissing": {
			reason: "nothing named: the own pool is made",
			want:   own,
			writes: []string{"create infra-rbd", "enable rbd on infra-rbd"},
		},
		"OwnPoolThere": {
			reason: "every write costs an osdmap epoch: none when all is there",
			ceph:   fakeCeph{pools: []ceph.Pool{pool("other", "rbd"), pool(own, "rbd")}},
			want:   own,
		},
		"OwnPoolHalfDone": {
			reason: "a crash between the two commands is made good",
			ceph:   fakeCeph{pools: []ceph.Pool{pool(own)}},
			want:   own,
			writes: []string{"enable rbd on infra-rbd"},
		},
		"OwnPoolOfSomebodyElse": {
			reason: "a pool of that name with another use is not taken",
			ceph:   fakeCeph{pools: []ceph.Pool{pool(own, "cephfs")}},
			err:    ErrNoPool,
			text:   []string{`"infra-rbd"`, "cephfs", "ceph.pool"},
		},
		"OwnPoolNamedAndMissing": {
			reason: "the class names the own pool, which comes back",
			wish:   ceph.Placement{Pool: own},
			want:   own,
			writes: []string{"create infra-rbd", "enable rbd on infra-rbd"},
		},
		"OwnPoolNamedAndDenied": {
			reason: "another pool would be a surprise: the administrator gets the command",
			ceph:   fakeCeph{pools: []ceph.Pool{pool("other", "rbd")}, create: ceph.ErrDenied},
			wish:   ceph.Placement{Pool: own},
			err:    ceph.ErrDenied,
			text:   []string{"ceph osd pool create infra-rbd && ceph osd pool application enable infra-rbd rbd"},
		},
		"DeniedOnlyPool": {
			reason: "may not create: the only replicated pool of application rbd",
			ceph: fakeCeph{
				pools:  []ceph.Pool{pool("cephfs_data", "cephfs"), pool("vms", "rbd"), erasure("ec", "rbd")},
				create: ceph.ErrDenied,
			},
			want: "vms",
		},
		"DeniedSeveral": {
			reason: "may not create, and the choice is not ours",
			ceph:   fakeCeph{pools: []ceph.Pool{pool("b", "rbd"), pool("a", "rbd")}, create: ceph.ErrDenied},
			err:    ErrNoPool,
			text:   []string{`"a", "b"`, "spec.driverConfig.ceph.pool of ClusterCSIDriver rbd.csi.ceph.com", "ceph osd pool create infra-rbd"},
		},
		"DeniedNone": {
			reason: "may not create, and nothing is there",
			ceph:   fakeCeph{create: ceph.ErrDenied},
			err:    ErrNoPool,
			text:   []string{"pools of application rbd: none"},
		},
		"CreateFails": {
			reason: "an error that is no refusal chooses nothing else",
			ceph:   fakeCeph{pools: []ceph.Pool{pool("vms", "rbd")}, create: errBoom},
			err:    errBoom,
		},
		"Wished": {
			reason: "the wish is taken as it is, without a write",
			ceph:   fakeCeph{pools: []ceph.Pool{pool("vms", "rbd")}},
			wish:   ceph.Placement{Pool: "vms"},
			want:   "vms",
		},
		"WishedWithoutApplication": {
			reason: "rbd works on it; the pool is not ours to change",
			ceph:   fakeCeph{pools: []ceph.Pool{pool("vms")}},
			wish:   ceph.Placement{Pool: "vms"},
			want:   "vms",
		},
		"WishedMissing": {
			reason: "who named it, what there is and what to do",
			ceph:   fakeCeph{pools: []ceph.Pool{pool("b", "rbd"), pool("a", "rbd"), pool("c", "cephfs")}},
			wish:   ceph.Placement{Pool: "vms"},
			err:    ErrNoPool,
			text:   []string{`"vms"`, "StorageClass ceph-rbd", `"a", "b";`, "spec.driverConfig.ceph.pool"},
		},
		"WishedErasureCoded": {
			reason: "librbd refuses metadata there",
			ceph:   fakeCeph{pools: []ceph.Pool{erasure("ec", "rbd")}},
			wish:   ceph.Placement{Pool: "ec"},
			err:    ErrNoPool,
			text:   []string{"erasure-coded", "dataPool"},
		},
		"WishedOfCephFS": {
			reason: "images do not belong among CephFS objects",
			ceph:   fakeCeph{pools: []ceph.Pool{pool("cephfs_data", "cephfs")}},
			wish:   ceph.Placement{Pool: "cephfs_data"},
			err:    ErrNoPool,
			text:   []string{"belongs to application cephfs"},
		},
		"DataPoolMissing": {
			reason: "images cannot be created without it",
			ceph:   fakeCeph{pools: []ceph.Pool{pool("vms", "rbd")}},
			wish:   ceph.Placement{Pool: "vms", DataPool: "ec"},
			err:    ErrNoPool,
			text:   []string{`data pool "ec"`, "spec.driverConfig.ceph.dataPool", "or a pool in ceph.pool without one"},
		},
		"DataPoolOfCephFS": {
			reason: "the drivers' users may write where data of images is",
			ceph:   fakeCeph{pools: []ceph.Pool{pool("vms", "rbd"), pool("cephfs.f.meta", "cephfs")}},
			wish:   ceph.Placement{Pool: "vms", DataPool: "cephfs.f.meta"},
			err:    ErrNoPool,
			text:   []string{`data pool "cephfs.f.meta" belongs to application cephfs`, "spec.driverConfig.ceph.dataPool"},
		},
		"ListingFails": {
			reason: "an outage is told apart by the caller",
			ceph:   fakeCeph{listing: ceph.ErrTimeout},
			err:    ceph.ErrTimeout,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.wish.FSID = "fsid"
			wish := Wish{Placement: tc.wish, Origin: "StorageClass ceph-rbd", Own: own}
			got, err := images{}.Place(t.Context(), &tc.ceph, wish)
			check(t, tc.reason, err, tc.err, tc.text)
			if diff := cmp.Diff(tc.writes, tc.ceph.writes); diff != "" {
				t.Errorf("%s: writes (-want +got):\n%s", tc.reason, diff)
			}
			if want := (ceph.Placement{FSID: "fsid", Pool: tc.want}); err == nil && got != want {
				t.Errorf("%s: got %+v, want %+v", tc.reason, got, want)
			}
			if tc.err != nil {
				return
			}
			tc.ceph.writes = nil
			if _, err := (images{}).Place(t.Context(), &tc.ceph, wish); err != nil || tc.ceph.writes != nil {
				t.Errorf("%s: the second run wrote %v, error %v", tc.reason, tc.ceph.writes, err)
			}
		})
	}
}
