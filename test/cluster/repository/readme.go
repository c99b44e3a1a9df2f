package repository

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ReadmeCommands are the arguments of kubectl in the README's section about a cluster without OpenShift.
func ReadmeCommands() ([][]string, error) {
	lines, err := readmeLines("### On Kubernetes without OpenShift", "kubectl ")
	var out [][]string
	for _, line := range lines {
		out = append(out, strings.Fields(line)[1:])
	}
	return out, err
}

// OpenShiftCommands are the lines of shell by which the README installs on an OpenShift without
// cluster-storage-operator, with the images that the manifests name.
func OpenShiftCommands() ([]string, error) {
	var out []string
	for _, heading := range []string{"### 1. Let the cluster accept the names", "### 2. Apply the manifests", "### 3. Declare the Ceph cluster"} {
		lines, err := readmeLines(heading, "oc ")
		if err != nil {
			return nil, err
		}
		out = append(out, lines...)
	}
	return slices.DeleteFunc(out, func(line string) bool {
		return strings.Contains(line, "$IMAGE") || strings.Contains(line, " ceph-b ")
	}), nil
}

// readmeLines are those of code in a section that begin with start.
func readmeLines(heading, start string) ([]string, error) {
	readme, err := readReadme()
	if err != nil {
		return nil, err
	}
	_, section, found := strings.Cut(readme, "\n"+heading+"\n")
	if !found {
		return nil, fmt.Errorf("README.md has no section %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n### ")
	var out []string
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "    "+start) {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out, nil
}

// ReadmeCommand is the README's only command that starts like that.
func ReadmeCommand(start string) (string, error) {
	readme, err := readReadme()
	if err != nil {
		return "", err
	}
	var found []string
	for line := range strings.Lines(readme) {
		if command, ok := strings.CutPrefix(line, "    "); ok && strings.HasPrefix(command, start) {
			found = append(found, strings.TrimSpace(command))
		}
	}
	if len(found) != 1 {
		return "", fmt.Errorf("README.md has %d commands that start with %q, not one", len(found), start)
	}
	return found[0], nil
}

func readReadme() (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	return string(readme), err
}
