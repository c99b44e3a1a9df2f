//go:build cgo

package rados

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

// testMonHostForms dials what administrators write, some of which makes librados abort the
// process or fail when it gets it as it is.
func testMonHostForms(t *testing.T, c *cephdaemons.Ceph) {
	vector := strings.TrimSpace(c.MonHost("a")) // [v2:127.0.0.1:P2,v1:127.0.0.1:P1]
	v2, v1, _ := strings.Cut(strings.Trim(vector, "[]"), ",")
	good := source(t, c)
	for name, text := range map[string]string{
		"Vector":           vector,
		"VectorTwice":      vector + "," + vector,
		"V1AndVector":      v1 + "," + vector,
		"AnyAndVector":     strings.TrimPrefix(v1, "v1:") + " " + vector,
		"V1":               v1,
		"V2WithNonce":      v2 + "/0",
		"AnyOfV2":          strings.TrimPrefix(v2, "v2:"),
		"AnyOfV1":          strings.TrimPrefix(v1, "v1:"),
		"Name":             "localhost:" + v2[strings.LastIndexByte(v2, ':')+1:],
		"UnresolvedBeside": "no-such-mon.invalid;" + vector,
		"BlankInVector":    strings.ReplaceAll(vector, ",", ", "),
	} {
		t.Run(name, func(t *testing.T) {
			monitors, err := ceph.ParseMonHost(t.Context(), text, lookUp)
			check(t, err)
			s := good
			s.Monitors = monitors
			conn, err := Dial(t.Context(), s, quick)
			check(t, err)
			conn.Close()
			s.Key = wrongKey()
			if _, err := Dial(t.Context(), s, quick); !errors.Is(err, ceph.ErrWrongKey) {
				t.Errorf("with a wrong key: got %v, want %v", err, ceph.ErrWrongKey)
			}
		})
	}
}

// lookUp knows IPv4 only, as the mons of the test do.
var lookUp ceph.Resolver = func(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip4", host)
}
