package images

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// replaced is what somebody gives for an image: an archive's file, or a name that can be pulled.
type replaced struct{ file, pull string }

// The environment's variables for two images; the others' are named as the manifests name them.
const (
	driverReplacement   = "CEPH_CSI_IMAGE"
	operatorReplacement = "OPERATOR_IMAGE"
)

// reference is the name of an image with its registry.
var reference = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*(:[0-9]+)?(/[a-z0-9][a-z0-9._-]*)+(:[\w][\w.-]*)?(@sha256:[0-9a-f]{64})?$`)

// replacement is what the environment gives for a variable of the manifests.
func replacement(variable string) (replaced, error) {
	switch variable {
	case "":
		return replaced{}, nil
	case operatorVariable:
		variable = operatorReplacement
	case driverVariable:
		variable = driverReplacement
	}
	given, err := parseReplacement(os.Getenv(variable))
	if err != nil {
		return replaced{}, fmt.Errorf("environment variable %s: %w", variable, err)
	}
	return given, nil
}

func parseReplacement(value string) (replaced, error) {
	if value == "" {
		return replaced{}, nil
	}
	info, err := os.Stat(value)
	switch {
	case err == nil && info.Mode().IsRegular():
		return replaced{file: value}, nil
	case err == nil:
		return replaced{}, fmt.Errorf("%s is no file: name an archive of an image", value)
	case strings.HasPrefix(value, "/") || strings.HasPrefix(value, "."):
		return replaced{}, fmt.Errorf("reading the archive of an image: %w", err)
	case !reference.MatchString(value):
		return replaced{}, fmt.Errorf("%q is neither an archive nor an image with its registry, such as quay.io/cephcsi/cephcsi:v3.18.0", value)
	}
	return replaced{pull: value}, nil
}

// pullers are programs that bring an image from a registry into an archive, in the order in which they
// are looked for.
var pullers = []struct {
	program string
	steps   func(name, file string) [][]string
}{
	{"podman", pullAndSave},
	{"docker", pullAndSave},
	{"skopeo", func(name, file string) [][]string {
		return [][]string{{"copy", "docker://" + name, "docker-archive:" + file}}
	}},
}

func pullAndSave(name, file string) [][]string {
	return [][]string{{"pull", name}, {"save", "--output", file, name}}
}

// pull writes the archive of an image that a registry has.
func pull(ctx context.Context, log io.Writer, name, file string) error {
	for _, p := range pullers {
		path, err := exec.LookPath(p.program)
		if err != nil {
			continue
		}
		for _, arguments := range p.steps(name, file) {
			cmd := exec.CommandContext(ctx, path, arguments...)
			cmd.Stdout, cmd.Stderr = log, log
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%s %s: %w", p.program, strings.Join(arguments, " "), err)
			}
		}
		return nil
	}
	return fmt.Errorf("pulling %s needs podman, docker or skopeo: install one, or give an archive of the image", name)
}
