package images

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
)

// started is how the Dockerfile has the operator started.
type started struct {
	user       string
	entrypoint []string
}

func dockerfile() (started, error) {
	root, err := repository.Root()
	if err != nil {
		return started{}, err
	}
	content, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		return started{}, err
	}
	return parseDockerfile(string(content))
}

// parseDockerfile reads the last stage, which is the image.
func parseDockerfile(content string) (started, error) {
	var out started
	for line := range strings.Lines(content) {
		instruction, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch strings.ToUpper(instruction) {
		case "FROM":
			out = started{}
		case "USER":
			out.user = strings.TrimSpace(value)
		case "ENTRYPOINT":
			if err := json.Unmarshal([]byte(value), &out.entrypoint); err != nil {
				return started{}, fmt.Errorf("the Dockerfile's ENTRYPOINT %s: %w", value, err)
			}
		}
	}
	if out.user == "" || len(out.entrypoint) == 0 {
		return started{}, fmt.Errorf("the Dockerfile's last stage needs USER and ENTRYPOINT: a pod that must not be root does not start otherwise; they are %q and %q", out.user, out.entrypoint)
	}
	return out, nil
}
