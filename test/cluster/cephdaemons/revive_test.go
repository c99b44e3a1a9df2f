package cephdaemons

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
)

func TestStartsAnew(t *testing.T) {
	tests := map[string]struct {
		reason, script string
		want           bool
	}{
		"Anew":   {"what the dynamic linker says of a daemon's arguments", `echo "ceph-mds: unrecognized option '--conf'"; exit 1`, true},
		"Failed": {"an error of its own", `echo "no such file"; exit 1`, false},
		"Killed": {"the log may tell of an earlier one", `echo "ceph-mds: unrecognized option '--conf'"; kill -9 $$`, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			group := process.NewGroup(t.TempDir(), func(process.Record) error { return nil })
			end := filepath.Join(t.TempDir(), "end")
			p, err := group.Start("ceph-mds.a", "/bin/sh", "-c", `until [ -e "$1" ]; do sleep 0.01; done; `+tc.script, "sh", end)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(end, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			<-p.Done()
			if got := startsAnew(p); got != tc.want {
				t.Errorf("%s: got %t, %v", tc.reason, got, p.Exited())
			}
		})
	}
}
