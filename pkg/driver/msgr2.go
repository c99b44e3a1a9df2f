package driver

import "regexp"

var msMode = regexp.MustCompile(`(?:^|[,;: ])ms_mode=([a-z-]+)`)

// Msgr2 says whether the options of mounts or mapped images make kernel clients speak Ceph's
// messenger protocol 2, whatever of its modes.
func Msgr2(options string) bool {
	for _, mode := range msMode.FindAllStringSubmatch(options, -1) {
		if mode[1] != "legacy" {
			return true
		}
	}
	return false
}
