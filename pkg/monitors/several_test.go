package monitors

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

func TestDecideSeveral(t *testing.T) {
	const (
		own    = `{"clusterID":"f1","monitors":["10.0.0.1:6789"]}`
		second = `{"clusterID":"f2","monitors":["10.0.2.1:6789"]}`
		tuned  = `{"clusterID":"f2","monitors":["10.0.2.9:6789"],"rbd":{"radosNamespace":"ns"}}`
		near   = `"readAffinity":{"enabled":true,"crushLocationLabels":["zone"]}`
	)
	inUse := state.Cluster{FSID: "f1", Monitors: []string{"10.0.0.1:6789"}}
	other := []state.Cluster{{FSID: "f2", Monitors: []string{"10.0.2.1:6789"}}}
	recorded := inUse
	recorded.Others = []state.Other{{FSID: "f2", Monitors: []string{"10.0.2.8:6789"}}}
	tests := map[string]struct {
		reason   string
		known    known
		existing string
		want     string
	}{
		"Both":          {reason: "volumes may be in either", known: known{cluster: inUse, others: other}, want: "[" + own + "," + second + "]"},
		"None chosen":   {reason: "the mons of both are known all the same", known: known{others: other}, want: "[" + second + "]"},
		"Live is newer": {reason: "the record is of yesterday", known: known{cluster: recorded, others: other}, want: "[" + own + "," + second + "]"},
		"Recorded":      {reason: "silent at the start", known: known{cluster: recorded}, want: "[" + own + "," + strings.ReplaceAll(second, "2.1", "2.8") + "]"},
		"Tuned by hand": {
			reason: "of another cluster's entry only the mons are ours", known: known{cluster: inUse, others: other}, existing: "[" + tuned + "]",
			want: "[" + strings.ReplaceAll(tuned, "2.9", "2.1") + "," + own + "]",
		},
		"Affinity": {
			reason: "reads are near in all clusters", known: known{cluster: inUse, others: other, readAffinity: []string{"zone"}},
			want: `[{"clusterID":"f1","monitors":["10.0.0.1:6789"],` + near + `},{"clusterID":"f2","monitors":["10.0.2.1:6789"],` + near + `}]`,
		},
		"Affinity unsafe": {
			reason: "this release of Ceph loses data with it", existing: "[" + own[:len(own)-1] + "," + near + "}]",
			known: known{cluster: inUse, readAffinity: []string{"zone"}, unsafeReads: []string{"20.2.0"}, releases: map[string][]string{"f1": {"20.2.0"}}},
			want:  "[" + own + "]",
		},
		"Affinity in an upgrade": {
			reason: "the mons are new, OSDs are not", existing: "[" + own[:len(own)-1] + "," + near + "}]",
			known: known{cluster: inUse, readAffinity: []string{"zone"}, unsafeReads: []string{"20.2.0"}, releases: map[string][]string{"f1": {"20.2.0-71.el9cp", "20.2.1"}}},
			want:  "[" + own + "]",
		},
		"Affinity half known": {
			reason: "a daemon has yet to tell", existing: "[" + own + "]",
			known: known{cluster: inUse, readAffinity: []string{"zone"}, unsafeReads: []string{"20.2.0"}, releases: map[string][]string{"f1": {"20.2.1", "unknown"}}},
			want:  "[" + own + "]",
		},
		"Affinity safe": {
			reason: "another release does not",
			known:  known{cluster: inUse, readAffinity: []string{"zone"}, unsafeReads: []string{"20.2.0"}, releases: map[string][]string{"f1": {"20.2.1"}}},
			want:   "[" + own[:len(own)-1] + "," + near + "}]",
		},
		"Affinity unknown": {
			reason: "after a start Ceph may be silent: nothing changes", existing: "[" + own[:len(own)-1] + "," + near + "}]",
			known: known{cluster: inUse, readAffinity: []string{"other"}, unsafeReads: []string{"20.2.0"}},
			want:  "[" + own[:len(own)-1] + "," + near + "}]",
		},
		"Options unknown": {
			reason: "what stands there stays", known: known{cluster: inUse, unset: true},
			existing: `[{"clusterID":"f1","monitors":["10.0.0.9:6789"],"cephFS":{"kernelMountOptions":"ms_mode=crc"},` + near + `}]`,
			want:     `[{"clusterID":"f1","monitors":["10.0.0.1:6789"],"cephFS":{"kernelMountOptions":"ms_mode=crc"},` + near + `}]`,
		},
		"Affinity off": {
			reason: "the field is left out again", known: known{cluster: inUse, others: other},
			existing: `[{"clusterID":"f1","monitors":["10.0.0.1:6789"],` + near + `},{"clusterID":"f2","monitors":["10.0.2.1:6789"],` + near + `}]`,
			want:     "[" + own + "," + second + "]",
		},
		"Mount options": {
			reason: "every mount of the cluster has them, also those of older classes",
			known:  known{cluster: inUse, place: ceph.Placement{FSID: "f1", SubvolumeGroup: "csi"}, kernelMountOptions: "ms_mode=crc", fuseMountOptions: "debug"},
			want:   `[{"clusterID":"f1","monitors":["10.0.0.1:6789"],"cephFS":{"subvolumeGroup":"csi","kernelMountOptions":"ms_mode=crc","fuseMountOptions":"debug"}}]`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, ours, err := decide(tc.known, []byte(tc.existing), nil)
			if err != nil {
				t.Fatal(err)
			}
			if compact := strings.NewReplacer("\n", "", " ", "").Replace(string(got)); compact != tc.want {
				t.Errorf("%s:\n got %s\nwant %s", tc.reason, compact, tc.want)
			}
			if again, _, err := decide(tc.known, got, ours); err != nil || string(again) != string(got) {
				t.Errorf("%s: deciding again gives %s, %v", tc.reason, again, err)
			}
		})
	}
}

// monmap is read as Ceph prints it, one mon for each list of addresses.
func monmap(t *testing.T, mons ...string) ceph.MonMap {
	t.Helper()
	var entries []string
	for i, addresses := range mons {
		var vector []string
		for _, a := range strings.Fields(addresses) {
			protocol, at, _ := strings.Cut(a, ":")
			vector = append(vector, `{"type":"`+protocol+`","addr":"`+at+`","nonce":0}`)
		}
		entries = append(entries, `{"name":"`+string(rune('a'+i))+`","public_addrs":{"addrvec":[`+strings.Join(vector, ",")+`]}}`)
	}
	m, err := ceph.ParseMonDump([]byte(`{"fsid":"` + cephtest.FSID + `","epoch":4,"mons":[` + strings.Join(entries, ",") + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// What is written for the forms that monmaps have: one address per mon.
func TestAddressForms(t *testing.T) {
	tests := map[string]struct {
		reason  string
		monmap  []string
		options string
		want    []string
	}{
		"Both":         {"kernel clients speak v1 unless told", []string{"v2:10.0.0.2:3300 v1:10.0.0.2:6789", "v2:10.0.0.1:3300 v1:10.0.0.1:6789"}, "", []string{"10.0.0.1:6789", "10.0.0.2:6789"}},
		"V1Only":       {"an old cluster", []string{"v1:10.0.0.1:6789"}, "", []string{"10.0.0.1:6789"}},
		"V2Only":       {"v1 is off", []string{"v2:10.0.0.1:3300", "v2:10.0.0.2:3300 v1:10.0.0.2:6789"}, "", []string{"10.0.0.1:3300", "10.0.0.2:6789"}},
		"IPv6":         {"with brackets", []string{"v2:[fd00::1]:3300 v1:[fd00::1]:6789"}, "", []string{"[fd00::1]:6789"}},
		"OddPorts":     {"several mons on a host", []string{"v2:10.0.0.1:40001 v1:10.0.0.1:40002"}, "", []string{"10.0.0.1:40002"}},
		"MsMode":       {"kernel clients speak v2", []string{"v2:10.0.0.1:3300 v1:10.0.0.1:6789"}, "ms_mode=secure", []string{"10.0.0.1:3300"}},
		"MsModeIPv6":   {"kernel clients speak v2", []string{"v2:[fd00::1]:3300 v1:[fd00::1]:6789"}, "ms_mode=prefer-crc", []string{"[fd00::1]:3300"}},
		"MsModeV1Only": {"there is nothing else", []string{"v1:10.0.0.1:6789"}, "ms_mode=secure", []string{"10.0.0.1:6789"}},
		"MsModeLegacy": {"v1 by name", []string{"v2:10.0.0.1:3300 v1:10.0.0.1:6789"}, "ms_mode=legacy", []string{"10.0.0.1:6789"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.settings.KernelMountOptions = tc.options
			m := monmap(t, tc.monmap...)
			f.cluster.Set(ceph.Cluster{FSID: m.FSID, MonMap: m})
			c, err := readConfig(f.sync().Data["config.json"])
			if got := c.monitors(cephtest.FSID); err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

// TestProtocols: a setting is of new volumes. Those made before go on with the protocol that they were made with.
func TestProtocols(t *testing.T) {
	for name, tc := range map[string]struct {
		reason       string
		driver       driver.Driver
		settings     driver.Settings
		class        *storagev1.StorageClass
		volume       *corev1.PersistentVolume
		inUse, other []string
	}{
		"Told": {
			reason: "a setting that was taken back is still that of volumes that were made meanwhile", driver: driver.RBD,
			volume: volumeWith(driver.RBD.Name, "krbd:ms_mode=secure"),
			inUse:  []string{"10.0.0.1:3300", "10.0.0.1:6789"}, other: []string{"10.0.1.1:3300", "10.0.1.1:6789"},
		},
		"OwnClass": {
			reason: "a class of a user's", driver: driver.RBD, class: classWith(driver.RBD.Name, "krbd:ms_mode=prefer-crc"),
			inUse: []string{"10.0.0.1:3300", "10.0.0.1:6789"}, other: []string{"10.0.1.1:3300", "10.0.1.1:6789"},
		},
		"Others": {
			reason: "other drivers have a config.json of their own, and legacy is v1", driver: driver.RBD,
			class: classWith("other.example.com", "krbd:ms_mode=secure"), volume: volumeWith(driver.RBD.Name, "krbd:ms_mode=legacy"),
			inUse: []string{"10.0.0.1:6789"}, other: []string{"10.0.1.1:6789"},
		},
		"CephFSClass": {
			reason: "mount.ceph takes all addresses", driver: driver.CephFS, class: classWith(driver.CephFS.Name, "ms_mode=secure"),
			inUse: []string{"10.0.0.1:6789"}, other: []string{"10.0.1.1:6789"},
		},
		"RBD": {
			reason: "rbd map takes those of its protocol", driver: driver.RBD, settings: driver.Settings{MapOptions: "krbd:ms_mode=secure"},
			inUse: []string{"10.0.0.1:3300", "10.0.0.1:6789"}, other: []string{"10.0.1.1:3300", "10.0.1.1:6789"},
		},
		"CephFS": {
			reason: "ceph-csi adds the entry's option to those of all volumes, and there is one in that of the cluster in use",
			driver: driver.CephFS, settings: driver.Settings{KernelMountOptions: "ms_mode=secure"}, inUse: []string{"10.0.0.1:3300"}, other: []string{"10.0.1.1:6789"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.controller.Driver, f.settings = tc.driver, tc.settings
			if tc.class != nil {
				_ = f.classes.Add(tc.class)
			}
			if tc.volume != nil {
				_ = f.volumes.Add(tc.volume)
			}
			m, other := monmap(t, "v2:10.0.0.1:3300 v1:10.0.0.1:6789"), monmap(t, "v2:10.0.1.1:3300 v1:10.0.1.1:6789")
			other.FSID = "c0ffee00-0000-4000-8000-000000000002"
			f.cluster.Set(ceph.Cluster{FSID: m.FSID, MonMap: m})
			f.clusters.Set([]ceph.Cluster{{FSID: m.FSID, MonMap: m}, {FSID: other.FSID, MonMap: other}})
			if wakes := tc.volume != nil && len(tc.inUse) > 1; tc.volume != nil && f.controller.matters(tc.volume) != wakes {
				t.Errorf("%s: wakes the controller: %t", tc.reason, !wakes)
			}
			content, _, err := decide(f.controller.gather(), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			written, err := readConfig(content)
			got := [][]string{written.monitors(m.FSID), written.monitors(other.FSID)}
			if diff := cmp.Diff([][]string{tc.inUse, tc.other}, got); diff != "" || err != nil {
				t.Errorf("%s: %v (-want +got):\n%s", tc.reason, err, diff)
			}
		})
	}
}

// optionsOf are mapOptions and kernelMountOptions: each driver reads its own.
func optionsOf(options string) map[string]string {
	return map[string]string{"mapOptions": options, "kernelMountOptions": options}
}

func classWith(provisioner, options string) *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "own"}, Provisioner: provisioner, Parameters: optionsOf(options)}
}

func volumeWith(driverName, options string) *corev1.PersistentVolume {
	out := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pvc-1"}}
	out.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driverName, VolumeAttributes: optionsOf(options)}
	return out
}

// The controller writes what is connected beside the one in use, and keeps it afterwards.
func TestFurtherClusters(t *testing.T) {
	f, c := newFixture(t), cephtest.New()
	b := cephtest.New()
	b.SetFSID("c0ffee00-0000-4000-8000-000000000002")
	b.AddMon("b")
	f.settings = driver.Settings{ReadAffinity: []string{"topology.kubernetes.io/zone"}}
	f.publish(c)
	published, _ := f.cluster.Get()
	published.Releases = []string{"19.2.3"}
	f.clusters.Set([]ceph.Cluster{published, {FSID: b.MonMap().FSID, MonMap: b.MonMap()}})
	f.want("both", f.sync(), cephtest.FSID, b.MonMap().FSID, `"10.20.0.3:6789"`, `"topology.kubernetes.io/zone"`)
	f.clusters.Set([]ceph.Cluster{published})
	f.want("withdrawn", f.sync(), cephtest.FSID, b.MonMap().FSID, `"10.20.0.3:6789"`)

	f.settings, f.wrong = driver.Settings{}, errors.New("no such settings")
	c.AddMon("new")
	f.publish(c)
	f.want("settings that are lost stop nothing", f.sync(), `"10.20.0.3:6789"`, `"topology.kubernetes.io/zone"`)
}

// How old the monmap was when pods were told of it, once per change of the mons.
func TestMeasures(t *testing.T) {
	f, c := newFixture(t), cephtest.New()
	tell := func() {
		f.publish(c)
		published, _ := f.cluster.Get()
		published.EpochSince = time.Now().Add(-time.Hour)
		f.clusters.Set([]ceph.Cluster{published})
		f.sync()
	}
	tell()
	if took, known := f.controller.Took.Get(); !known || took.Seconds < 3600 || took.Seconds > 2*3600 {
		t.Errorf("the first monmap took %v s", took.Seconds)
	}
	f.controller.Took.Clear()
	f.settings.ReadAffinity = []string{"zone"}
	tell()
	if _, known := f.controller.Took.Get(); known {
		t.Error("something else than mons was measured")
	}
	c.AddMon("b")
	tell()
	if _, known := f.controller.Took.Get(); !known {
		t.Error("new mons were not measured")
	}
}

// TestTellsWhatIsWritten: an epoch is told once the Secret has its mons, and not before.
func TestTellsWhatIsWritten(t *testing.T) {
	f, c := newFixture(t), cephtest.New()
	tell := func() {
		f.publish(c)
		published, _ := f.cluster.Get()
		f.clusters.Set([]ceph.Cluster{published, {FSID: "f2", MonMap: ceph.MonMap{FSID: "f2", Epoch: 7}}})
	}
	expect := func(reason string, epoch int64) {
		t.Helper()
		got, _ := f.controller.Written.Get()
		if diff := cmp.Diff(Written{cephtest.FSID: epoch, "f2": 7}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
	if _, known := f.controller.Written.Get(); known {
		t.Error("nothing was written, and something was told")
	}
	tell()
	f.sync()
	first := c.MonMap().Epoch
	expect("written", first)
	c.AddMon("b")
	tell()
	refuse := true
	f.kube.PrependReactor("*", "secrets", func(a clienttesting.Action) (bool, runtime.Object, error) {
		return refuse && a.GetVerb() != "get", nil, errors.New("no")
	})
	if err := f.controller.Sync(t.Context(), factory.NewSyncContext("test", f.recorder)); err == nil {
		t.Fatal("the Secret was written")
	}
	expect("the API server refuses it", first)
	refuse = false
	f.sync()
	expect("written at last", c.MonMap().Epoch)
	f.controller.Written.Clear()
	f.sync()
	expect("a new process finds it written", c.MonMap().Epoch)
	f.controller.Written.Clear()
	f.spec.ManagementState = operatorv1.Unmanaged
	f.sync()
	expect("so does one that is not to write it", c.MonMap().Epoch)
	written := c.MonMap().Epoch
	c.AddMon("c")
	tell()
	f.sync()
	expect("which it does not", written)
}
