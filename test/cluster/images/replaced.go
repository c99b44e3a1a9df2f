package images

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// replaced is what somebody gives for an image: an archive's file, or a name that can be pulled.
type replaced struct{ file, pull string }

// driverReplacement is the environment's variable for the driver's image; the others' are named as
// the manifests name them.
const driverReplacement = "CEPH_CSI_IMAGE"

// reference is the name of an image with its registry.
var reference = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*(:[0-9]+)?(/[a-z0-9][a-z0-9._-]*)+(:[\w][\w.-]*)?(@sha256:[0-9a-f]{64})?$`)

// replacement is what the environment gives for a variable of the manifests.
func replacement(variable string) (replaced, error) {
	switch variable {
	case "", operatorVariable:
		return replaced{}, nil
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

// Pulled are the images that the environment replaces by ones that a registry has, by the names
// that the manifests carry: Ensure makes none of them, whoever applies the manifests puts the new
// names in, and nodes pull them.
func Pulled() (map[string]string, error) {
	names, err := named()
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for variable, name := range names {
		given, err := replacement(variable)
		if err != nil {
			return nil, err
		}
		if given.pull != "" {
			out[name] = given.pull
		}
	}
	return out, nil
}
