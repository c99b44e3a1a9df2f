package node

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestLoadModule(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	const absent = `echo "modprobe: FATAL: Module $1 not found in directory /lib/modules/6.1" >&2; exit 1`
	tests := map[string]struct {
		reason, script string
		inPod          bool
		said           string
	}{
		"Loaded":    {reason: "the kernel has it now", script: `[ "$1" = rbd ]`},
		"Absent":    {reason: "another program stands in for it", script: absent},
		"Unseen":    {reason: "nothing is mounted there in this pod", script: absent, inPod: true, said: "/lib/modules is not the node's"},
		"Forbidden": {reason: "a pod that is not privileged", script: `echo "could not insert 'rbd': Operation not permitted" >&2; exit 1`, said: "Operation not permitted"},
		"NoProgram": {reason: "an image without it", said: "modprobe failed"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if tc.script != "" {
				if err := os.WriteFile(filepath.Join(folder, "modprobe"), []byte("#!"+sh+"\n"+tc.script+"\n"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", folder)
			if tc.inPod {
				t.Setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")
			}
			err := LoadModule(t.Context(), "rbd")
			if (err != nil) != (tc.said != "") || err != nil && !strings.Contains(err.Error(), tc.said) {
				t.Errorf("%s: got %v", tc.reason, err)
			}
		})
	}
}
