package programs

import (
	"fmt"
	"regexp"
	"strings"
)

const (
	kubernetesModule  = "k8s.io/kubernetes"
	snapshotterModule = "github.com/kubernetes-csi/external-snapshotter/client/v8"
)

// required finds the version of a module in a go.mod file's text.
func required(gomod, module string) (string, error) {
	match := regexp.MustCompile(`(?m)^\s*(?:require\s+)?` + regexp.QuoteMeta(module) + `\s+(v\S+)`).FindStringSubmatch(gomod)
	if match == nil {
		return "", fmt.Errorf("go.mod requires no %s", module)
	}
	return match[1], nil
}

// linkerFlags stamp the programs as a release's: built plainly they report a version that is
// not semantic, which kubectl and others fail to parse.
func linkerFlags(version string) (string, error) {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) != 3 {
		return "", fmt.Errorf("version %q of Kubernetes: want v<major>.<minor>.<patch>", version)
	}
	flags := []string{"-s", "-w"}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		for _, stamp := range [][2]string{
			{"gitVersion", version},
			{"gitMajor", parts[0]},
			{"gitMinor", parts[1]},
			{"gitCommit", strings.Repeat("0", 40)},
			{"gitTreeState", "clean"},
			{"buildDate", "1970-01-01T00:00:00Z"},
		} {
			flags = append(flags, "-X", pkg+"."+stamp[0]+"="+stamp[1])
		}
	}
	return strings.Join(flags, " "), nil
}
