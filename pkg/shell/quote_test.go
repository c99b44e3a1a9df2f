package shell

import (
	"os/exec"
	"testing"
)

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"rook-ceph": "rook-ceph", "storage.openshift.io/key=v": "storage.openshift.io/key=v", "client.admin@example.com": "client.admin@example.com",
		"": "''", "two words": "'two words'", "it's": `'it'\''s'`, "$(reboot)": "'$(reboot)'", "a;b": "'a;b'", "a\nb": "'a\nb'", "~": "'~'", "#x": "'#x'",
	} {
		if got := Quote(text); got != want {
			t.Errorf("%q became %s, want %s", text, got, want)
		}
		out, err := exec.Command("sh", "-c", "printf %s "+Quote(text)).CombinedOutput()
		if err != nil || string(out) != text {
			t.Errorf("a shell takes %s for %q: %v", Quote(text), out, err)
		}
	}
}
