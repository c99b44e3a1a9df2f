package check

import (
	"testing"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestMSMode: v1 and v2 of the mons against what the kernel is told to speak.
func TestMSMode(t *testing.T) {
	v1, v2 := ceph.Address{Protocol: ceph.V1, Port: 6789}, ceph.Address{Protocol: ceph.V2, Port: 3300}
	mon := func(name string, addresses ...ceph.Address) ceph.Mon { return ceph.Mon{Name: name, Addrs: addresses} }
	tests := map[string]struct {
		mons          []ceph.Mon
		told, mounter string
		state         State
		fix           string
	}{
		"Both":          {mons: []ceph.Mon{mon("a", v2, v1)}, state: OK},
		"V2Only":        {mons: []ceph.Mon{mon("a", v2), mon("b", v2)}, state: Wrong, fix: `{"mapOptions":"krbd:ms_mode=prefer-crc"}`},
		"V2OnlyLegacy":  {mons: []ceph.Mon{mon("a", v2)}, told: "krbd:ms_mode=legacy", state: Wrong},
		"V2OnlyTold":    {mons: []ceph.Mon{mon("a", v2)}, told: "krbd:noudev,ms_mode=secure;nbd:x", state: OK},
		"V2OnlyNBD":     {mons: []ceph.Mon{mon("a", v2)}, mounter: "rbd-nbd", state: OK},
		"V1OnlyTold":    {mons: []ceph.Mon{mon("a", v1)}, told: "ms_mode=crc", state: Wrong, fix: "ceph mon enable-msgr2"},
		"V1Only":        {mons: []ceph.Mon{mon("a", v1)}, state: OK},
		"V2OnlyOne":     {mons: []ceph.Mon{mon("a", v2, v1), mon("b", v2)}, state: Note},
		"V1OnlyOneTold": {mons: []ceph.Mon{mon("a", v2, v1), mon("b", v1)}, told: "ms_mode=crc", state: Note},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			d := r.config.Drivers[0]
			settings := map[string]any{"mounter": tc.mounter, "mapOptions": tc.told}
			for field, value := range settings {
				if value == "" {
					delete(settings, field)
				}
			}
			r.tune(d.Name, settings)
			f := withMons(d, tc.mons, r.others[len(r.others)-1])
			lines := msMode(d, r.config, f)
			verify(t, Report{Lines: lines}, []expect{{name: "ms_mode", state: tc.state, fix: tc.fix}})
		})
	}
}

// withMons are facts with a monmap and a ClusterCSIDriver.
func withMons(d driver.Driver, mons []ceph.Mon, resource *unstructured.Unstructured) facts {
	f := facts{
		fsid:   fact[string]{value: cephtest.FSID, asked: true},
		monMap: fact[ceph.MonMap]{value: ceph.MonMap{Mons: mons}, asked: true},
	}
	f.cluster.resources = map[string]fact[*unstructured.Unstructured]{d.Name: {value: resource}}
	return f
}

// TestMSModeOfClasses: a class of somebody has options of its own, or those of the settings
// where ceph-csi takes them from config.json.
func TestMSModeOfClasses(t *testing.T) {
	v2Only := []ceph.Mon{{Name: "a", Addrs: []ceph.Address{{Protocol: ceph.V2, Port: 3300}}}}
	tests := map[string]struct {
		driver     int
		option     string
		told       string
		parameters map[string]string
		want       State
	}{
		"RBDWithout":      {driver: 0, option: "mapOptions", told: "ms_mode=crc", parameters: map[string]string{"pool": "p"}, want: Wrong},
		"RBDWith":         {driver: 0, option: "mapOptions", told: "ms_mode=crc", parameters: map[string]string{"mapOptions": "krbd:ms_mode=secure"}, want: OK},
		"CephFSWithout":   {driver: 1, option: "kernelMountOptions", told: "ms_mode=crc", parameters: map[string]string{}, want: OK},
		"CephFSOtherwise": {driver: 1, option: "kernelMountOptions", told: "ms_mode=crc", parameters: map[string]string{"kernelMountOptions": "noatime"}, want: Wrong},
		"CephFSFuse":      {driver: 1, option: "kernelMountOptions", told: "ms_mode=crc", parameters: map[string]string{"kernelMountOptions": "noatime", "mounter": "fuse"}, want: OK},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			d := r.config.Drivers[tc.driver]
			r.tune(d.Name, map[string]any{tc.option: tc.told})
			f := withMons(d, v2Only, r.others[len(r.others)-1])
			f.cluster.classes.value = []*storagev1.StorageClass{class("mine", d.Name, tc.parameters).(*storagev1.StorageClass)}
			want := []expect{{name: "ms_mode", state: OK}}
			if tc.want == Wrong {
				want = append(want, expect{name: "StorageClass mine", state: Wrong, message: []string{"parameter " + tc.option}, fix: "oc replace --force -f mine.yaml"})
			}
			verify(t, Report{Lines: msMode(d, r.config, f)}, want)
		})
	}
}
