package repository

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ReadmeCommands are the arguments of kubectl in the README's section about a cluster without OpenShift.
func ReadmeCommands() ([][]string, error) {
	lines, err := readmeLines("README.md", "### On Kubernetes without OpenShift", "kubectl ")
	var out [][]string
	for _, line := range lines {
		out = append(out, strings.Fields(line)[1:])
	}
	return out, err
}

// OpenShiftCommands are the lines of shell by which the README installs on an OpenShift.
func OpenShiftCommands() ([]string, error) {
	var out []string
	for _, heading := range []string{
		"### 1. Let the cluster accept the names", "### 2. Apply the manifests", "### 3. Declare the Ceph cluster",
	} {
		lines, err := readmeLines("README.md", heading, "oc ")
		if err != nil {
			return nil, err
		}
		out = append(out, lines...)
	}
	return out, nil
}

// readmeLines are those of code in a section, or with no heading in a whole file, that begin with start.
func readmeLines(file, heading, start string) ([]string, error) {
	text, err := readReadme(file)
	if err != nil {
		return nil, err
	}
	if heading != "" {
		_, section, found := strings.Cut(text, "\n"+heading+"\n")
		if !found {
			return nil, fmt.Errorf("%s has no section %q", file, heading)
		}
		text, _, _ = strings.Cut(section, "\n### ")
	}
	var out []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "    "+start) {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out, nil
}

// ReadmeCommand is the only command of README.md and test/README.md that starts like that.
func ReadmeCommand(start string) (string, error) {
	var found []string
	for _, file := range []string{"README.md", "test/README.md"} {
		lines, err := readmeLines(file, "", start)
		if err != nil {
			return "", err
		}
		found = append(found, lines...)
	}
	if len(found) != 1 {
		return "", fmt.Errorf("README.md and test/README.md have %d commands that start with %q, not one", len(found), start)
	}
	return found[0], nil
}

func readReadme(file string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	readme, err := os.ReadFile(filepath.Join(root, file))
	return string(readme), err
}
