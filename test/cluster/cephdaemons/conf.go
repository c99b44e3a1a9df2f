package cephdaemons

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// daemonSettings keep a disposable cluster small, quick and quiet. What decides how long writes and
// failures take for a client is Ceph's own, but for the mon timers: with Ceph's, each change of the mons
// takes 6–14 s instead of 3–5. Each new pool's CRUSH map would be tried out within one lease, which a
// busy machine does not manage. An OSD with its data in memory saves it at a slow shutdown only.
const daemonSettings = `
	auth cluster required = cephx
	auth service required = cephx
	auth client required = cephx
	auth allow insecure global id reclaim = false
	ms bind ipv6 = false
	pid file =
	log to stderr = true
	err to stderr = true
	log file =
	mon cluster log to stderr = false
	mon cluster log file = /dev/null
	mon lease = 1
	mon election timeout = 1
	mon probe timeout = 1
	mon tick interval = 1
	mon osd crush smoke test = false
	mon allow pool delete = true
	mon allow pool size one = true
	mon warn on pool no redundancy = false
	mon warn on osd down out interval zero = false
	mon data avail warn = 1
	mon data avail crit = 0
	mgr initial modules =
	osd pool default size = 1
	osd pool default min size = 1
	osd pool default pg num = 8
	osd crush chooseleaf type = 0
	osd objectstore = memstore
	osd fast shutdown = false
	osd max markdown count = 100000
	memstore device bytes = 1073741824
	osd max object name len = 256
	mds reconnect timeout = 10
`

// monAddress is where a mon listens.
type monAddress struct {
	name, host string
	v2, v1     int
}

func (m monAddress) String() string {
	return fmt.Sprintf("[v2:%[1]s:%[2]d,v1:%[1]s:%[3]d]", m.host, m.v2, m.v1)
}

func monHost(mons []monAddress) string {
	var hosts []string
	for _, m := range mons {
		hosts = append(hosts, m.String())
	}
	return strings.Join(hosts, ",")
}

// adminConf is what `ceph config generate-minimal-conf` prints: all that an administrator has.
func adminConf(fsid string, mons []monAddress) string {
	return fmt.Sprintf("# minimal ceph.conf for %[1]s\n[global]\n\tfsid = %[1]s\n\tmon_host = %[2]s\n", fsid, monHost(mons))
}

func daemonConf(fsid string, mons []monAddress, address, dir string, folders map[string]string) string {
	var names []string
	for _, m := range mons {
		names = append(names, m.name)
	}
	var b strings.Builder
	// Commands by `ceph tell` need the thread of the admin socket (seen with Ceph 16.2.15).
	fmt.Fprintf(&b, "[global]\n\tfsid = %s\n\tmon host = %s\n\tmon initial members = %s\n\trun dir = %s\n\tcrash dir = %s\n\tadmin socket = %s/$name.asok",
		fsid, monHost(mons), strings.Join(names, ","), dir, dir, dir)
	b.WriteString(daemonSettings)
	for _, setting := range slices.Sorted(maps.Keys(folders)) {
		fmt.Fprintf(&b, "\t%s = %s\n", setting, folders[setting])
	}
	fmt.Fprintf(&b, "\tpublic addr = %[1]s\n\tcluster addr = %[1]s\n", address)
	for _, kind := range []string{"mon", "mgr", "osd", "mds"} {
		fmt.Fprintf(&b, "[%[1]s]\n\t%[1]s data = %[2]s/%[1]s.$id\n\tkeyring = %[2]s/%[1]s.$id/keyring\n", kind, dir)
	}
	return b.String()
}

// entity is a cephx user with the capabilities that it has from the first mon's birth on.
type entity struct {
	name, key string
	caps      map[string]string
}

// newEntity takes capabilities as pairs of service and capability.
func newEntity(keyType, name string, caps ...string) entity {
	e := entity{name: name, key: newKey(keyType, time.Now()), caps: map[string]string{}}
	for pair := range slices.Chunk(caps, 2) {
		e.caps[pair[0]] = pair[1]
	}
	return e
}

// keyring is the text of a keyring file.
func keyring(entities ...entity) string {
	var b strings.Builder
	for _, e := range entities {
		fmt.Fprintf(&b, "[%s]\n\tkey = %s\n", e.name, e.key)
		for _, service := range []string{"mds", "mgr", "mon", "osd"} {
			if allowed := e.caps[service]; allowed != "" {
				fmt.Fprintf(&b, "\tcaps %s = \"%s\"\n", service, allowed)
			}
		}
	}
	return b.String()
}
