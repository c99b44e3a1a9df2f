package repository

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// ReadmeCommands are the arguments of kubectl in the README's section about a cluster without OpenShift.
func ReadmeCommands() ([][]string, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		return nil, err
	}
	_, section, found := strings.Cut(string(readme), "### On Kubernetes without OpenShift\n")
	if !found {
		return nil, errors.New("README.md has no section about Kubernetes without OpenShift")
	}
	section, _, _ = strings.Cut(section, "\n### ")
	var out [][]string
	for line := range strings.Lines(section) {
		if command, ok := strings.CutPrefix(line, "    kubectl "); ok {
			out = append(out, strings.Fields(command))
		}
	}
	return out, nil
}
