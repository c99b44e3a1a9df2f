package check

import (
	"errors"
	"strings"
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
		"V2OnlyLegacy":  {mons: []ceph.Mon{mon("a", v2)}, told: "krbd:ms_mode=legacy", state: Wrong, fix: `{"mapOptions":"krbd:ms_mode=prefer-crc"}`},
		"V2OnlyOther":   {mons: []ceph.Mon{mon("a", v2)}, told: "krbd:noudev;nbd:x", state: Wrong, fix: `{"mapOptions":"krbd:noudev,ms_mode=prefer-crc;nbd:x"}`},
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

// TestMSModeFix: the command that sets ms_mode takes no setting away, and works on the CRD that the cluster has.
func TestMSModeFix(t *testing.T) {
	const (
		annotate = "oc annotate clustercsidriver rbd.csi.ceph.com --overwrite storage.openshift.io/ceph-settings="
		patch    = "oc patch clustercsidriver rbd.csi.ceph.com --type=merge -p "
		edit     = "oc edit clustercsidriver rbd.csi.ceph.com"
	)
	cr := func(annotation string, spec map[string]any) *unstructured.Unstructured {
		o := object("operator.openshift.io/v1", "ClusterCSIDriver", driver.RBD.Name, "spec", spec)
		if annotation != "" {
			o.SetAnnotations(map[string]string{driver.SettingsAnnotation: annotation})
		}
		return o
	}
	ofCeph := func(member map[string]any) map[string]any {
		config := map[string]any{"driverType": "Ceph"}
		if member != nil {
			config["ceph"] = member
		}
		return map[string]any{"driverConfig": config}
	}
	stock, patched := driversCRDObject(), driversCRDObject(driver.RBD.Name)
	const only = `'{"mapOptions":"krbd:ms_mode=prefer-crc"}'`
	tests := map[string]struct {
		reason string
		crd    *unstructured.Unstructured
		cr     fact[*unstructured.Unstructured]
		want   string
	}{
		"Dropped": {"the member is gone with the patch, the annotation is in force", stock, known(cr(`{"pool":"fast"}`, ofCeph(nil))),
			annotate + `'{"mapOptions":"krbd:ms_mode=prefer-crc","pool":"fast"}'`},
		"DroppedPatched": {"the annotation still is", patched, known(cr(`{"pool":"fast"}`, ofCeph(nil))),
			annotate + `'{"mapOptions":"krbd:ms_mode=prefer-crc","pool":"fast"}'`},
		"Annotated":  {"YAML of a person", stock, known(cr("pool: fast\nmapOptions: krbd:noudev\n", nil)), annotate + `'{"mapOptions":"krbd:noudev,ms_mode=prefer-crc","pool":"fast"}'`},
		"Unset":      {"the spec would drop it", stock, known(cr("", nil)), annotate + only},
		"Patched":    {"", patched, known(cr("", nil)), patch + `'{"spec":{"driverConfig":{"ceph":{"mapOptions":"krbd:ms_mode=prefer-crc"},"driverType":"Ceph"}}}'`},
		"Member":     {"", patched, known(cr("", ofCeph(map[string]any{"pool": "fast"}))), patch + `'{"spec":{"driverConfig":{"ceph":{"mapOptions":"krbd:ms_mode=prefer-crc","pool":"fast"},"driverType":"Ceph"}}}'`},
		"None":       {"there is none to patch", patched, known[*unstructured.Unstructured](nil), "}}}'  # once the ClusterCSIDriver exists"},
		"NoneStock":  {"", stock, known[*unstructured.Unstructured](nil), annotate + only + "  # once the ClusterCSIDriver exists"},
		"NotAsked":   {"without a kubeconfig nobody knows what is set", nil, fact[*unstructured.Unstructured]{}, edit + "  # once it exists: add ms_mode to ceph.mapOptions, e.g. krbd:ms_mode=prefer-crc"},
		"Unreadable": {"", nil, fact[*unstructured.Unstructured]{err: errors.New("forbidden"), asked: true}, edit},
		"Invalid":    {"what is in force is remembered elsewhere", patched, known(cr("pool: [", nil)), edit},
		"Lost":       {"so it is without an annotation", stock, known(cr("", ofCeph(nil))), edit},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := withMons(driver.RBD, []ceph.Mon{{Name: "a", Addrs: []ceph.Address{{Protocol: ceph.V2, Port: 3300}}}}, nil)
			f.cluster.resources[driver.RBD.Name] = tc.cr
			f.cluster.crds = map[string]fact[*unstructured.Unstructured]{driversCRD: known(tc.crd)}
			lines := msMode(driver.RBD, Config{}, f)
			if len(lines) != 1 || len(lines[0].Fix) != 1 || !strings.Contains(lines[0].Fix[0], tc.want) {
				t.Errorf("%s: %+v, want %s", tc.reason, lines, tc.want)
			}
		})
	}
}

func known[T any](value T) fact[T] { return fact[T]{value: value, asked: true} }

// withMons are facts with a monmap and a ClusterCSIDriver.
func withMons(d driver.Driver, mons []ceph.Mon, resource *unstructured.Unstructured) facts {
	f := facts{
		fsid:   fact[string]{value: cephtest.FSID, asked: true},
		monMap: fact[ceph.MonMap]{value: ceph.MonMap{Mons: mons}, asked: true},
	}
	f.cluster.resources = map[string]fact[*unstructured.Unstructured]{d.Name: known(resource)}
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
		fix        string
	}{
		"RBDWithout":      {driver: 0, option: "mapOptions", told: "ms_mode=crc", parameters: map[string]string{"pool": "p"}, want: Wrong, fix: "mapOptions: krbd:ms_mode=prefer-crc;"},
		"RBDOtherwise":    {driver: 0, option: "mapOptions", told: "ms_mode=crc", parameters: map[string]string{"mapOptions": "noudev"}, want: Wrong, fix: "mapOptions: krbd:noudev,ms_mode=prefer-crc;"},
		"RBDOtherMounter": {driver: 0, option: "mapOptions", told: "ms_mode=crc", parameters: map[string]string{"tryOtherMounters": "true"}, want: OK},
		"RBDWith":         {driver: 0, option: "mapOptions", told: "ms_mode=crc", parameters: map[string]string{"mapOptions": "krbd:ms_mode=secure"}, want: OK},
		"CephFSWithout":   {driver: 1, option: "kernelMountOptions", told: "ms_mode=crc", parameters: map[string]string{}, want: OK},
		"CephFSOtherwise": {driver: 1, option: "kernelMountOptions", told: "ms_mode=crc", parameters: map[string]string{"kernelMountOptions": "noatime"}, want: OK},
		"CephFSOwn":       {driver: 1, option: "mounter", told: "fuse", parameters: map[string]string{"kernelMountOptions": "noatime"}, want: Wrong, fix: "kernelMountOptions: noatime,ms_mode=prefer-crc;"},
		"CephFSLast":      {driver: 1, option: "kernelMountOptions", told: "ms_mode=crc", parameters: map[string]string{"kernelMountOptions": "ms_mode=legacy"}, want: OK},
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
				want = append(want, expect{name: "StorageClass mine", state: Wrong, message: []string{"parameter " + d.KernelOptions}, fix: tc.fix + " then: oc replace --force -f mine.yaml"})
			}
			verify(t, Report{Lines: msMode(d, r.config, f)}, want)
		})
	}
}

// TestMSModeOfClassAlone: in which form config.json has the mons, the settings say for CephFS; of RBD, classes do, too.
func TestMSModeOfClassAlone(t *testing.T) {
	const fix = `"kernelMountOptions":"noatime,ms_mode=prefer-crc"`
	both := []ceph.Address{{Protocol: ceph.V2, Port: 3300}, {Protocol: ceph.V1, Port: 6789}}
	for name, tc := range map[string]struct {
		driver     int
		told       string
		parameters map[string]string
		mons       []ceph.Address
		wrong, fix string
	}{
		"CephFS":       {driver: 1, told: "noatime", parameters: map[string]string{"kernelMountOptions": "ms_mode=secure"}, mons: both, wrong: "until ceph.kernelMountOptions has ms_mode", fix: fix},
		"CephFSV1Only": {driver: 1, told: "noatime", parameters: map[string]string{"kernelMountOptions": "ms_mode=secure"}, mons: both[1:], wrong: "the mons speak v1 only", fix: "ceph mon enable-msgr2"},
		"CephFSTold":   {driver: 1, told: "ms_mode=crc", parameters: map[string]string{"kernelMountOptions": "ms_mode=secure"}, mons: both},
		"CephFSLegacy": {driver: 1, told: "ms_mode=legacy", parameters: map[string]string{"kernelMountOptions": "ms_mode=secure"}, mons: both},
		"CephFSFuse":   {driver: 1, told: "noatime", parameters: map[string]string{"kernelMountOptions": "ms_mode=secure", "mounter": "fuse"}, mons: both},
		"RBD":          {driver: 0, told: "krbd:noudev", parameters: map[string]string{"mapOptions": "krbd:ms_mode=secure"}, mons: both},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			d := r.config.Drivers[tc.driver]
			r.tune(d.Name, map[string]any{d.KernelOptions: tc.told})
			f := withMons(d, []ceph.Mon{{Name: "a", Addrs: tc.mons}}, r.others[len(r.others)-1])
			f.cluster.classes.value = []*storagev1.StorageClass{class("mine", d.Name, tc.parameters).(*storagev1.StorageClass)}
			want := []expect{{name: "ms_mode", state: OK}}
			if tc.wrong != "" {
				want = append(want, expect{name: "StorageClass mine", state: Wrong, message: []string{tc.wrong}, fix: tc.fix})
			}
			verify(t, Report{Lines: msMode(d, r.config, f)}, want)
		})
	}
}
