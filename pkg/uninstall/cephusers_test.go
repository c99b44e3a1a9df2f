package uninstall

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// volume makes a PersistentVolume of the driver.
func (s *scene) volume() {
	_, err := s.o.Kube.CoreV1().PersistentVolumes().Create(s.t.Context(), &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pv"},
		Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{
			CSI: &corev1.CSIPersistentVolumeSource{Driver: driver.RBD.Name, VolumeHandle: "x"},
		}},
	}, metav1.CreateOptions{})
	s.do(err)
}

// given puts a user into the driver's Secret.
func (s *scene) given(id string) {
	_, err := s.o.Kube.CoreV1().Secrets(driver.Namespace).Create(s.t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: driver.RBD.NodeSecret()}, Data: map[string][]byte{"userID": []byte(id)},
	}, metav1.CreateOptions{})
	s.do(err)
}

func TestRunAndCephUsers(t *testing.T) {
	own, node, theirs := driver.RBD.ProvisionerUser(infra), driver.RBD.NodeUser(infra), driver.RBD.NodeUser("demo-2")
	tests := map[string]struct {
		reason string
		given  func(*scene)
		err    error
		// removed: the users of this cluster are. forgotten: what leads to Ceph is.
		removed, forgotten bool
		says               []string
	}{
		"Made": {"nothing needs them any more", func(*scene) {}, nil, true, true,
			[]string{"Will remove the Ceph users of the drivers from the Ceph cluster of Secret ceph-credentials: client." + own + ", client." + node + ".\n", "Removed.\n"}},
		"Volumes": {"volumes need them", func(s *scene) { s.volume(); s.o.Force = true }, nil, false, true, []string{"Removed.\n"}},
		"Denied": {"an administrator of Ceph can, and what leads there stays until then", func(s *scene) { s.ceph.Deny("admin", "auth rm") }, ErrLeft, false, false,
			[]string{"\n  ceph auth rm client." + own + "\n  ceph auth rm client." + node + "\n", "run the command again"}},
		"MayNotLook": {"who may not look has not made any", func(s *scene) { s.ceph.Deny("admin", "auth get", "auth rm") }, nil, false, true, []string{"Removed.\n"}},
		"MayNotLookNow": {"the driver works as one", func(s *scene) {
			s.ceph.Deny("admin", "auth get", "auth rm")
			s.given(node)
		}, ErrLeft, false, false, []string{"\n  ceph auth rm client." + node + "\n"}},
		"Left": {"an administrator's choice", func(s *scene) { s.o.Dial = nil }, nil, false, true,
			[]string{"\n  ceph auth rm client." + own + "\n", "stay so, and so do its Ceph users"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s, out := newScene(t)
			s.infrastructure()
			s.declared()
			s.state()
			for _, id := range []string{own, node, theirs} {
				s.ceph.AddUser(id)
			}
			tc.given(s)
			err := Run(t.Context(), s.o)
			if !errors.Is(err, tc.err) {
				t.Fatalf("%s: error %v\n%s", tc.reason, err, out)
			}
			text := out.String() + fmt.Sprint(err)
			for _, says := range tc.says {
				if !strings.Contains(text, says) {
					t.Errorf("%s: it does not say %q:\n%s", tc.reason, says, text)
				}
			}
			_, there := s.ceph.User(own)
			if there == tc.removed || !s.left("Secret", driver.RBD.ConfigSecret()) != tc.forgotten {
				t.Errorf("%s: the user is there: %t\n%s", tc.reason, there, text)
			}
			if _, there := s.ceph.User(theirs); !there {
				t.Error("another cluster's user is removed")
			}
		})
	}
}

// TestRunLeavesCommands: with --leave-ceph, the commands that remain name what was protected last.
func TestRunLeavesCommands(t *testing.T) {
	s, out := newScene(t)
	s.infrastructure()
	s.o.Dial = nil
	_, err := s.o.Kube.CoreV1().ConfigMaps(driver.Namespace).Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: driver.RBD.StatusConfigMap()},
		Data:       map[string]string{"status.yaml": "cephClusters:\n- fsid: " + former + "\n  pools:\n    protected: [kept]\n"},
	}, metav1.CreateOptions{})
	s.do(err)
	s.do(Run(t.Context(), s.o))
	for _, want := range []string{
		"ceph osd pool application rm kept rbd storage.openshift.io.nodelete." + infra + ".rbd # of Ceph cluster " + former,
		"ceph osd pool set kept nodelete false", "rados -p kept -N storage.openshift.io rm running." + infra + ".rbd", "ceph auth rm client." + driver.CephFS.NodeUser(infra),
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
	if strings.Contains(out.String(), "Removed.\n") {
		t.Errorf("it says that nothing is left:\n%s", out)
	}
	if !s.ceph.Pools()[0].NoDelete {
		t.Error("Ceph was contacted")
	}
}

// TestUsersOfRook: the names of a cluster's users that is called by a number are those of Rook's.
func TestUsersOfRook(t *testing.T) {
	if got := userIDs("1"); len(got) > 0 {
		t.Errorf("%q", got)
	}
	if got := userIDs("a1"); len(got) != 4 {
		t.Errorf("%q", got)
	}
}
