package uninstall

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestRunAndWhatCameMeanwhile: whoever was asked took an hour to say yes, in which a volume was made.
func TestRunAndWhatCameMeanwhile(t *testing.T) {
	tests := map[string]struct {
		reason            string
		force             bool
		err               error
		released, removed bool
		says              string
	}{
		"Refused": {"as it would have been before", false, ErrLeft, false, false, "PersistentVolumes of the drivers exist (pv)"},
		"Forced":  {"the volume needs its user", true, nil, true, true, "Leaves the Ceph users of the drivers, which volumes or snapshots need that came meanwhile.\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s, out := newScene(t)
			s.infrastructure()
			s.declared()
			s.state()
			node := driver.RBD.NodeUser(infra)
			s.ceph.AddUser(node)
			s.o.Force = tc.force
			s.o.Confirm = func() (bool, error) {
				s.volume()
				return true, nil
			}
			err := Run(t.Context(), s.o)
			text := out.String() + fmt.Sprint(err)
			if !errors.Is(err, tc.err) || !strings.Contains(text, tc.says) {
				t.Errorf("%s: error %v\n%s", tc.reason, err, text)
			}
			if _, there := s.ceph.User(node); !there {
				t.Errorf("%s: the user of a volume is removed\n%s", tc.reason, text)
			}
			if s.ceph.Pools()[0].NoDelete == tc.released || s.left("Secret", driver.RBD.ConfigSecret()) == tc.removed {
				t.Errorf("%s: released or removed\n%s", tc.reason, text)
			}
		})
	}
}
