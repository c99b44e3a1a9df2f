package servingcerts

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"
)

// TestExpiries reads the certificate itself, of Secrets that this package has written.
func TestExpiries(t *testing.T) {
	r := rig{t, fake.NewClientset()}
	r.sync()
	told := func(names ...string) map[string]time.Time {
		return Expiries(r.keeper().Secrets.Lister().Secrets(namespace), names...)()
	}
	end, year := told(wanted, "none")[wanted], time.Now().Add(validity)
	if end.Before(year.Add(-time.Hour)) || end.After(year.Add(time.Hour)) {
		t.Errorf("a new certificate ends at %v", end)
	}
	tests := map[string]struct {
		reason string
		change func(*corev1.Secret)
	}{
		"Foreign": {"whoever made it looks after it", func(s *corev1.Secret) { s.Labels[Label] = "" }},
		"Damaged": {"it is made anew", func(s *corev1.Secret) { s.Data[corev1.TLSCertKey] = []byte("?") }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := r.secret(wanted)
			r.change(wanted, tc.change)
			if got := told(wanted); len(got) > 0 {
				t.Errorf("%s: %v", tc.reason, got)
			}
			r.change(wanted, func(s *corev1.Secret) { s.Labels, s.Data = before.Labels, before.Data })
		})
	}
}
