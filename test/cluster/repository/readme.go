package repository

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ReadmeCommands are the arguments of kubectl in the README's section about a cluster without OpenShift.
func ReadmeCommands() ([][]string, error) {
	readme, err := readReadme()
	if err != nil {
		return nil, err
	}
	_, section, found := strings.Cut(readme, "### On Kubernetes without OpenShift\n")
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
