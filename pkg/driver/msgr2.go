package driver

import "regexp"

var msMode = regexp.MustCompile(`(?:^|[,;: ])ms_mode=([a-z-]+)`)

// Msgr2 says whether the options of mounts or mapped images make kernel clients speak Ceph's
// messenger protocol 2, whatever of its modes.
func (s Settings) Msgr2() bool {
	for _, options := range []string{s.KernelMountOptions, s.MapOptions} {
		for _, mode := range msMode.FindAllStringSubmatch(options, -1) {
			if mode[1] != "legacy" {
				return true
			}
		}
	}
	return false
}
