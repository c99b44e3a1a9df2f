package check

import (
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/shell"
)

// Groups of lines that belong to no driver.
const (
	groupFiles      = "Files"
	groupMons       = "Mons"
	groupCeph       = "Ceph"
	groupUser       = "User"
	groupKubernetes = "Kubernetes"
)

// profile is what a driver needs, as data.
type profile struct {
	group string
	// mons and manager are the commands that a user needs whom the driver shares.
	mons    []ceph.Trial
	manager func(place) []ceph.Trial
	// mds says that nodes mount filesystems.
	mds bool
	// setting reads the field that the driver's KernelOptions name, advice adds a good ms_mode to options that have none.
	setting func(driver.Settings) string
	advice  func(options string) string
}

// profiles by the driver's kind.
var profiles = map[string]profile{
	"rbd": {
		group: "RBD",
		mons:  []ceph.Trial{ceph.TryBlocklist},
		manager: func(p place) []ceph.Trial {
			if p.Pool == "" || p.makesPool {
				return nil
			}
			return []ceph.Trial{ceph.TryFlatten(p.Pool)}
		},
		setting: func(s driver.Settings) string { return s.MapOptions },
		advice:  func(options string) string { return driver.JoinMapOptions(options, "krbd:"+driver.PreferCRC) },
	},
	"cephfs": {
		group:   "CephFS",
		manager: func(place) []ceph.Trial { return []ceph.Trial{ceph.TryMakeSubvolume} },
		mds:     true,
		setting: func(s driver.Settings) string { return s.KernelMountOptions },
		advice: func(options string) string {
			return strings.Join(append(strings.FieldsFunc(options, func(r rune) bool { return r == ',' }), driver.PreferCRC), ",")
		},
	},
}

// What the operator asks of the mons for its own work.
var (
	protectTrials = []ceph.Trial{ceph.TrySetApplication, ceph.TryProtectPool}
	poolTrials    = []ceph.Trial{ceph.TryCreatePool, ceph.TryEnableApplication}
	monTrials     = slices.Concat(driver.MintingTrials, protectTrials, poolTrials, []ceph.Trial{ceph.TryBlocklist})
)

// managerTrials are what the mgr is asked for a driver, and for the operator's own work on it.
func (p profile) managerTrials(where place) []ceph.Trial {
	trials := p.manager(where)
	if where.makesGroup {
		trials = append(trials, ceph.TryMakeGroup)
	}
	return trials
}

// Caps that commands suggest.
var (
	operatorMon = []string{
		"allow r",
		`allow command "osd blocklist"`,
		`allow command "osd pool create"`,
		`allow command "osd pool application enable"`,
		`allow command "osd pool application set"`,
		`allow command "osd pool application rm"`,
		`allow command "osd pool set" with var=nodelete`,
	}
	// passthroughCaps let the operator and both drivers work as one user.
	passthroughCaps = ceph.Caps{
		Mon: ceph.Grants(operatorMon...),
		Mgr: "allow rw",
		OSD: "profile rbd",
	}.With(driver.MountingCaps)
)

// toMint are caps for a user that is to make others. A driver may have worked as this user: with what it may mount,
// volumes are mounted.
func (f facts) toMint() ceph.Caps {
	if f.self.known() && f.self.value.Caps.MDS == "" {
		return driver.MintingCaps
	}
	return driver.MintingCaps.With(driver.MountingCaps)
}

// setCaps is the command that gives a user its caps, in the place of all that it had.
func setCaps(user ceph.Credentials, caps ceph.Caps) string {
	return "ceph auth caps " + shell.Quote(user.Entity()) + " " + caps.String()
}
