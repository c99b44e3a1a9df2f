package image

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess"
)

// runtimeStage is the last stage of the Dockerfile.
type runtimeStage struct {
	// copied are files of the builder, by the folder that they go to.
	copied     map[string]string
	user       uint32
	entrypoint []string
	// rest is all of the stage's text.
	rest string
}

func readDockerfile(t *testing.T) runtimeStage {
	t.Helper()
	root, err := repository.Root()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	stages := regexp.MustCompile(`(?m)^FROM `).Split(string(content), -1)
	last := stages[len(stages)-1]
	out := runtimeStage{copied: map[string]string{}, rest: last}
	for _, m := range regexp.MustCompile(`(?m)^COPY --from=builder (\S+) (\S+)$`).FindAllStringSubmatch(last, -1) {
		out.copied[m[2]] = m[1]
	}
	if m := regexp.MustCompile(`(?m)^USER (\d+)$`).FindStringSubmatch(last); m != nil {
		id, err := strconv.ParseUint(m[1], 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		out.user = uint32(id)
	}
	if m := regexp.MustCompile(`(?m)^ENTRYPOINT (.+)$`).FindStringSubmatch(last); m != nil {
		if err := json.Unmarshal([]byte(m[1]), &out.entrypoint); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestDockerfile(t *testing.T) {
	stage := readDockerfile(t)
	if stage.user == 0 {
		t.Error("the image must not run as root")
	}
	if len(stage.copied) != 1 || len(stage.entrypoint) != 1 {
		t.Errorf("one program, and nothing else: copied %v, entrypoint %q", stage.copied, stage.entrypoint)
	}
	// `oc adm release new` takes manifests from the images that this label marks.
	for _, want := range []string{"COPY manifests/*.yaml manifests/image-references /manifests/", "io.k8s.display-name", "io.k8s.description", "io.openshift.release.operator=true"} {
		if !strings.Contains(stage.rest, want) {
			t.Errorf("%s is missing", want)
		}
	}
}

// TestRunsInItsRootFileSystem starts every subcommand's help as the image's user.
func TestRunsInItsRootFileSystem(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the program: make build")
	}
	if os.Geteuid() != 0 {
		t.Skip("only root may change the root file system")
	}
	binary, err := operatorprocess.Binary()
	if err != nil {
		t.Fatal(err)
	}
	stage := readDockerfile(t)
	root := t.TempDir()
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	for folder, file := range stage.copied {
		install(t, binary, filepath.Join(root, folder, filepath.Base(file)))
	}
	libraries, err := exec.Command("ldd", binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(/\S+) \(0x`).FindAllSubmatch(libraries, -1) {
		install(t, string(m[1]), filepath.Join(root, string(m[1])))
	}
	for _, subcommand := range []string{"check", "start", "cluster-storage", "uninstall"} {
		cmd := exec.Command(stage.entrypoint[0], subcommand, "--help")
		cmd.Dir, cmd.Env = "/", []string{}
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: stage.user, Gid: 0}}
		out, err := cmd.CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("Usage:")) {
			t.Errorf("%s: %v: %s", subcommand, err, out)
		}
	}
}

func install(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, 0o755); err != nil {
		t.Fatal(err)
	}
}
