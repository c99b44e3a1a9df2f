package check

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// frames keeps what was shown, and ends the view after some.
type frames struct {
	want  int
	shown []string
	after func(n int)
	end   context.CancelFunc
}

func (f *frames) Show(lines func(width, height int) []string) error {
	f.shown = append(f.shown, strings.Join(lines(0, 0), "\n"))
	f.after(len(f.shown))
	if len(f.shown) == f.want {
		f.end()
	}
	return nil
}

// eager does not wait.
type eager struct{ clock.RealClock }

func (eager) After(time.Duration) <-chan time.Time {
	now := make(chan time.Time, 1)
	now <- time.Now()
	return now
}

// TestView: it connects as the Secret says, comes back after Ceph was away, shows no key, and writes
// nothing.
func TestView(t *testing.T) {
	r := newRig(t)
	r.objects = append(r.objects,
		&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: driver.CredentialsSecret, Namespace: driver.Namespace},
			Data:       map[string][]byte{ceph.EntryConf: r.ceph.Conf(), ceph.EntryKeyring: r.ceph.Keyring("admin")},
		},
		&corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Name: "e1", Namespace: driver.Namespace},
			InvolvedObject: corev1.ObjectReference{Kind: "Deployment", Name: "ceph-rbd-csi-driver-operator"}, Reason: "Ours", Message: "told",
		},
		&corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Name: "e2", Namespace: metav1.NamespaceDefault},
			InvolvedObject: corev1.ObjectReference{Kind: "StorageClass", Name: "mine"}, Reason: "OfAClass", Source: corev1.EventSource{Component: "ceph-rbd-csi-driver-operator"},
		},
		&corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Name: "e3", Namespace: driver.Namespace},
			InvolvedObject: corev1.ObjectReference{Kind: "Deployment", Name: "aws-ebs-csi-driver-operator"}, Reason: "Somebodys",
		})
	r.withCluster()
	dials := 0
	view := &View{
		Cluster: r.config.Cluster, Drivers: driver.All, Resolve: r.config.Resolve, Clock: eager{},
		Dial: func(ctx context.Context, source ceph.Source) (Ceph, error) {
			dials++
			return r.config.Dial(ctx, source)
		},
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	screen := &frames{want: 3, end: cancel, after: func(n int) {
		switch n {
		case 1:
			r.ceph.Stop()
		case 2:
			r.ceph.Start()
		}
	}}
	if err := view.Run(ctx, screen); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"answers as client.admin", "does not answer as client.admin: ", "answers as client.admin"} {
		if i >= len(screen.shown) || !strings.Contains(screen.shown[i], want) {
			t.Fatalf("screen %d lacks %q: %q", i, want, screen.shown)
		}
	}
	all := strings.Join(screen.shown, "\n")
	for _, want := range []string{"Ours deployment ceph-rbd-csi-driver-operator: told", "OfAClass", "there is no ClusterCSIDriver rbd.csi.ceph.com", "vms"} {
		if !strings.Contains(all, want) {
			t.Errorf("nothing of %q in %s", want, all)
		}
	}
	if key := r.ceph.Credentials("admin").Key.Reveal(); strings.Contains(all, key[4:30]) || strings.Contains(all, "Somebodys") {
		t.Errorf("too much is shown: %s", all)
	}
	for _, action := range r.config.Cluster.Kube.(*fake.Clientset).Actions() {
		if !slices.Contains([]string{"get", "list"}, action.GetVerb()) {
			t.Errorf("written to Kubernetes: %v", action)
		}
	}
	if writes := r.ceph.Writes(); len(writes) > 0 || dials != 2 || view.session != nil {
		t.Errorf("%d sessions, writes %v", dials, writes)
	}
}

// TestViewFollowsSecret: the operators go by what the Secret says now.
func TestViewFollowsSecret(t *testing.T) {
	r := newRig(t)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: driver.CredentialsSecret, Namespace: driver.Namespace},
		Data:       map[string][]byte{ceph.EntryConf: r.ceph.Conf(), ceph.EntryKeyring: r.ceph.Keyring("admin")},
	}
	r.objects = append(r.objects, secret)
	r.withCluster()
	secrets := r.config.Cluster.Kube.CoreV1().Secrets(driver.Namespace)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	view := &View{Cluster: r.config.Cluster, Drivers: driver.All, Resolve: r.config.Resolve, Clock: eager{}, Dial: r.config.Dial}
	screen := &frames{want: 4, end: cancel, after: func(n int) {
		var err error
		switch n {
		case 1:
			wrong := secret.DeepCopy()
			wrong.Data[ceph.EntryKeyring] = []byte("[client.nobody]\nkey = " + r.ceph.Credentials("admin").Key.Reveal() + "\n")
			_, err = secrets.Update(t.Context(), wrong, metav1.UpdateOptions{})
		case 2:
			err = secrets.Delete(t.Context(), secret.Name, metav1.DeleteOptions{})
		case 3:
			_, err = secrets.Create(t.Context(), secret, metav1.CreateOptions{})
		}
		if err != nil {
			t.Error(err)
		}
	}}
	if err := view.Run(ctx, screen); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"answers as client.admin", "client.nobody", "there is no Secret", "answers as client.admin"} {
		if i >= len(screen.shown) || !strings.Contains(screen.shown[i], want) {
			t.Fatalf("screen %d lacks %q: %q", i, want, screen.shown)
		}
	}
}

func TestTerminal(t *testing.T) {
	var out bytes.Buffer
	terminal := &Terminal{Out: &out, Size: func() (int, int) { return 5, 2 }}
	if err := terminal.Close(); err != nil || out.Len() > 0 {
		t.Errorf("left what was not entered: %q", out.String())
	}
	show := func(width, height int) []string {
		if width != 5 || height != 2 {
			t.Errorf("%d × %d", width, height)
		}
		return []string{"a\x1b[2Jb", "c"}
	}
	const frame = "\x1b[Ha [2Jb\x1b[K\r\nc\x1b[K\x1b[J"
	if err := errors.Join(terminal.Show(show), terminal.Show(show), terminal.Close(), terminal.Close()); err != nil {
		t.Fatal(err)
	}
	if want := "\x1b[?1049h\x1b[?25l" + frame + frame + "\x1b[?25h\x1b[?1049l"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestPlain(t *testing.T) {
	var out bytes.Buffer
	plain := &Plain{Out: &out}
	for _, lines := range [][]string{{"10:00", "a"}, {"10:01", "a"}, {"10:02", "b"}} {
		if err := plain.Show(func(int, int) []string { return lines }); err != nil {
			t.Fatal(err)
		}
	}
	if want := "10:00\na\n\n10:02\nb\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
