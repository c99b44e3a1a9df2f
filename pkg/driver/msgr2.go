package driver

import (
	"regexp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

var msMode = regexp.MustCompile(`(?:^|[,;: ])ms_mode=([a-z-]+)`)

// PreferCRC has kernel clients speak messenger protocol 2: all that know it know this mode, which costs least.
const PreferCRC = "ms_mode=prefer-crc"

// Msgr2 says whether the options of mounts or mapped images make kernel clients speak Ceph's
// messenger protocol 2, whatever of its modes.
func (s Settings) Msgr2() bool { return Msgr2(s.KernelMountOptions + ";" + s.MapOptions) }

// Msgr2 says whether a kernel client with these options speaks messenger protocol 2: of several modes, it takes the last.
func Msgr2(options string) bool {
	modes := msMode.FindAllStringSubmatch(options, -1)
	return len(modes) > 0 && modes[len(modes)-1][1] != "legacy"
}

// SpeaksMsgr2 says whether kernel clients of volumes with these parameters speak messenger protocol 2.
func (d Driver) SpeaksMsgr2(parameters map[string]string, s Settings) bool {
	return Msgr2(d.Storage.KernelOptions(parameters, s))
}

// Unheard says that no node mounts volumes with these parameters: they have it speak messenger protocol 2, while the settings,
// and so config.json, have the mons by their addresses of protocol 1.
func (d Driver) Unheard(parameters map[string]string, s Settings, mons ceph.MonMap) bool {
	return !d.PicksMons && !s.Msgr2() && mons.SpeaksBoth() && !InUserSpace(parameters) && d.SpeaksMsgr2(parameters, s)
}
