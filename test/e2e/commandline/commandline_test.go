package commandline

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess"
)

// TestMistakes: one line that names the mistake, exit code 1, and nothing else.
func TestMistakes(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the operator's binary: make test-e2e")
	}
	binary, err := operatorprocess.Binary()
	if err != nil {
		t.Fatal(err)
	}
	given, err := operatorprocess.Environment(driver.RBD)
	if err != nil {
		t.Fatal(err)
	}
	nowhere := filepath.Join(t.TempDir(), "kubeconfig")
	tests := map[string]struct {
		args []string
		env  map[string]string
		want []string
	}{
		"UnknownDriver":        {args: []string{"start", "--driver=nfs"}, want: []string{`--driver="nfs"`, "rbd or cephfs"}},
		"NoDriver":             {args: []string{"start"}, want: []string{"--driver", "rbd or cephfs"}},
		"MissingImage":         {args: []string{"start", "--driver=rbd"}, env: map[string]string{"ATTACHER_IMAGE": ""}, want: []string{"ATTACHER_IMAGE"}},
		"TwoMissingImages":     {args: []string{"start", "--driver=cephfs"}, env: map[string]string{"DRIVER_IMAGE": "", "RESIZER_IMAGE": ""}, want: []string{"DRIVER_IMAGE", "RESIZER_IMAGE"}},
		"UnreadableKubeconfig": {args: []string{"start", "--driver=rbd", "--kubeconfig=" + nowhere}, want: []string{"--kubeconfig", nowhere}},
		"NoKubeconfig":         {args: []string{"start", "--driver=rbd"}, want: []string{"--kubeconfig"}},
		"UnreadableConfig":     {args: []string{"start", "--driver=rbd", "--kubeconfig=testdata/kubeconfig", "--config=" + nowhere}, want: []string{"--config", nowhere}},
		"UnknownFlag":          {args: []string{"start", "--drivr=rbd"}, want: []string{"--drivr"}},
		"UnknownCommand":       {args: []string{"strat"}, want: []string{"strat"}},
		"StrayArgument":        {args: []string{"start", "rbd"}, want: []string{"rbd"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			variables := maps.Clone(given)
			maps.Copy(variables, tc.env)
			code, stdout, stderr := run(t, binary, variables, tc.args)
			if code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			if stdout != "" {
				t.Errorf("stdout: %q", stdout)
			}
			if !strings.HasPrefix(stderr, "error: ") || strings.Count(stderr, "\n") != 1 || !strings.HasSuffix(stderr, "\n") {
				t.Errorf("stderr is not one line that starts with \"error: \":\n%s", stderr)
			}
			for _, want := range tc.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("stderr %q does not have %q", stderr, want)
				}
			}
		})
	}
}

func run(t *testing.T, binary string, variables map[string]string, args []string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = []string{"TMPDIR=" + t.TempDir()}
	for name, value := range variables {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}
