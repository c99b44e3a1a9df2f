package check

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// listen answers each connection with a text, and leaves it open unless told to close.
func listen(t *testing.T, says string, closes bool) ceph.Address {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte(says))
			if closes {
				conn.Close()
			} else {
				t.Cleanup(func() { conn.Close() })
			}
		}
	}()
	return ceph.Address{Protocol: ceph.V2, IP: "127.0.0.1", Port: uint16(listener.Addr().(*net.TCPAddr).Port)}
}

func TestReach(t *testing.T) {
	closed := listen(t, "", true)
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := ceph.Address{Protocol: ceph.V1, IP: "127.0.0.1", Port: uint16(dead.Addr().(*net.TCPAddr).Port)}
	dead.Close()
	as := func(a ceph.Address, p ceph.Protocol) ceph.Address {
		a.Protocol = p
		return a
	}
	v1, v2 := listen(t, "ceph v027\x00\x00", false), listen(t, "ceph v2\n\x10\x00", false)
	tests := map[string]struct {
		address ceph.Address
		want    string
	}{
		"V2":       {v2, ""},
		"V1":       {as(v1, ceph.V1), ""},
		"Any":      {as(v1, ceph.Any), ""},
		"V1AtV2":   {as(v2, ceph.V1), "speaks v2 here, not v1"},
		"SSH":      {listen(t, "SSH-2.0-OpenSSH_9.2\r\n", false), "no mon"},
		"Silent":   {listen(t, "", false), "says nothing"},
		"Closes":   {closed, "ends them"},
		"Nobody":   {nobody, "nobody listens"},
		"NoRoute":  {ceph.Address{Protocol: ceph.V2, IP: "255.255.255.255", Port: 3300}, "no connection"},
		"NoTarget": {ceph.Address{Protocol: ceph.V2, IP: "0.0.0.0.0", Port: 3300}, "no connection"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			// Only a silent mon takes all the time there is.
			patience := 20 * time.Second
			if name == "Silent" {
				patience = 300 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			err := Reach(ctx, tc.address)
			if tc.want == "" && err != nil {
				t.Error(err)
			}
			if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
