package cephdaemons

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
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
	public addr = 127.0.0.1
	cluster addr = 127.0.0.1
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
	memstore device bytes = 1073741824
	osd max object name len = 256
`

// monAddress is where a mon listens on loopback.
type monAddress struct {
	name   string
	v2, v1 int
}

func (m monAddress) String() string {
	return fmt.Sprintf("[v2:127.0.0.1:%d,v1:127.0.0.1:%d]", m.v2, m.v1)
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

func daemonConf(fsid string, mons []monAddress, dir string) string {
	var names []string
	for _, m := range mons {
		names = append(names, m.name)
	}
	var b strings.Builder
	// Commands by `ceph tell` need the thread of the admin socket (seen with Ceph 16.2.15).
	fmt.Fprintf(&b, "[global]\n\tfsid = %s\n\tmon host = %s\n\tmon initial members = %s\n\trun dir = %s\n\tcrash dir = %s\n\tadmin socket = %s/$name.asok",
		fsid, monHost(mons), strings.Join(names, ","), dir, dir, dir)
	b.WriteString(daemonSettings)
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
func newEntity(name string, caps ...string) entity {
	e := entity{name: name, key: newKey(time.Now()), caps: map[string]string{}}
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

// newKey makes a cephx secret: type AES, creation time, length and 16 random bytes, in little endian.
func newKey(now time.Time) string {
	const aes, length = 1, 16
	b := binary.LittleEndian.AppendUint16(nil, aes)
	b = binary.LittleEndian.AppendUint32(b, uint32(now.Unix()))
	b = binary.LittleEndian.AppendUint32(b, uint32(now.Nanosecond()))
	b = binary.LittleEndian.AppendUint16(b, length)
	secret := make([]byte, length)
	_, _ = rand.Read(secret) // crypto/rand never fails
	return base64.StdEncoding.EncodeToString(append(b, secret...))
}
