package pools

import (
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestWish(t *testing.T) {
	inPool := func(name string) ceph.Placement { return ceph.Placement{FSID: "f", Pool: name} }
	everything := input{
		fsid:     "f",
		settings: driver.Settings{Pool: "set"},
		class:    inPool("class"),
		recorded: inPool("recorded"),
		volumes:  map[ceph.Placement]int{inPool("pv"): 1},
	}
	tests := map[string]struct {
		reason string
		in     func(*input)
		want   ceph.Placement
		origin string
	}{
		"Settings": {
			reason: "the administrator's word comes first",
			in:     func(*input) {},
			want:   inPool("set"),
			origin: "spec.driverConfig.ceph.pool of ClusterCSIDriver rbd.csi.ceph.com",
		},
		"Class": {
			reason: "the class is sticky",
			in:     func(in *input) { in.settings = driver.Settings{} },
			want:   inPool("class"),
			origin: "StorageClass ceph-rbd",
		},
		"Record": {
			reason: "the class was deleted",
			in:     func(in *input) { in.settings, in.class = driver.Settings{}, ceph.Placement{} },
			want:   inPool("recorded"),
			origin: "ConfigMap ceph-rbd-csi-driver-state",
		},
		"Volumes": {
			reason: "class and record were deleted: most volumes, then the name",
			in: func(in *input) {
				in.settings, in.class, in.recorded = driver.Settings{}, ceph.Placement{}, ceph.Placement{}
				in.volumes = map[ceph.Placement]int{inPool("a"): 1, inPool("c"): 2, inPool("b"): 2}
			},
			want:   inPool("b"),
			origin: "PersistentVolumes of rbd.csi.ceph.com",
		},
		"Nobody": {
			reason: "the driver's own choice",
			in:     func(in *input) { *in = input{fsid: "f"} },
			want:   ceph.Placement{FSID: "f"},
		},
		"OtherCluster": {
			reason: "names of another Ceph cluster mean nothing here",
			in:     func(in *input) { in.fsid, in.settings = "g", driver.Settings{} },
			want:   ceph.Placement{FSID: "g"},
		},
		"OtherClusterSettings": {
			reason: "the settings always speak of the cluster in use",
			in:     func(in *input) { in.fsid = "g" },
			want:   ceph.Placement{FSID: "g", Pool: "set"},
			origin: "spec.driverConfig.ceph.pool of ClusterCSIDriver rbd.csi.ceph.com",
		},
		"DataPoolOfClass": {
			reason: "class and data pool belong together",
			in:     func(in *input) { in.settings, in.class.DataPool = driver.Settings{}, "ec" },
			want:   ceph.Placement{FSID: "f", Pool: "class", DataPool: "ec"},
			origin: "StorageClass ceph-rbd",
		},
		"DataPoolOfSettings": {
			reason: "a data pool for the pool that is there already",
			in:     func(in *input) { in.settings = driver.Settings{DataPool: "ec"} },
			want:   ceph.Placement{FSID: "f", Pool: "class", DataPool: "ec"},
			origin: "StorageClass ceph-rbd",
		},
		"PoolOfSettingsDropsDataPool": {
			reason: "the class's data pool was for the class's pool",
			in:     func(in *input) { in.class.DataPool = "ec" },
			want:   inPool("set"),
			origin: "spec.driverConfig.ceph.pool of ClusterCSIDriver rbd.csi.ceph.com",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := everything
			tc.in(&in)
			got := wish(driver.RBD, in)
			if got.Placement != tc.want || got.Origin != tc.origin {
				t.Errorf("%s: got %+v, want %+v named by %q", tc.reason, got, tc.want, tc.origin)
			}
		})
	}
}

func TestKnown(t *testing.T) {
	class := ceph.Placement{FSID: "f", Pool: "class"}
	recorded := ceph.Placement{FSID: "f", Pool: "recorded"}
	tests := map[string]struct {
		reason string
		in     input
		want   ceph.Placement
	}{
		"Class":        {reason: "nothing moves while Ceph is down", in: input{class: class, recorded: recorded}, want: class},
		"Record":       {reason: "the class can be made again", in: input{recorded: recorded}, want: recorded},
		"Nothing":      {reason: "undecided", in: input{settings: driver.Settings{Pool: "set"}}},
		"OtherCluster": {reason: "Ceph answered, and it is another one", in: input{fsid: "g", class: class, recorded: recorded}},
		"NoCluster":    {reason: "a class without clusterID is useless", in: input{class: ceph.Placement{Pool: "class"}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, found := known(driver.RBD, tc.in)
			if got != tc.want || found != (tc.want != ceph.Placement{}) {
				t.Errorf("%s: got %+v, %v, want %+v", tc.reason, got, found, tc.want)
			}
		})
	}
}
