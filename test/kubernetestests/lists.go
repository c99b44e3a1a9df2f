package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
)

const (
	folder         = "test/kubernetestests"
	impossibleFile = "impossible.txt"
)

// obstacle is why tests cannot pass here: those whose names, of which the driver is a part, contain part.
type obstacle struct{ part, reason string }

// lists are what is known of one driver's tests.
type lists struct {
	// prefix starts the names of all of them, and is left out in passing.
	prefix     string
	passing    []string
	impossible []obstacle
}

func prefix(d driver.Driver) string { return "External Storage [Driver: " + d.Name + "] " }

func passingFile(d driver.Driver) string { return "passing-" + d.Kind + ".txt" }

func readLists(d driver.Driver) (lists, error) {
	passing, err := readList(passingFile(d))
	if err != nil {
		return lists{}, err
	}
	impossible, err := readList(impossibleFile)
	return lists{prefix: prefix(d), passing: names(passing), impossible: parseObstacles(impossible)}, err
}

func readList(name string) (string, error) {
	root, err := repository.Root()
	if err != nil {
		return "", err
	}
	content, err := os.ReadFile(filepath.Join(root, folder, name))
	return string(content), err
}

func writePassing(d driver.Driver, passing []string) error {
	root, err := repository.Root()
	if err != nil {
		return err
	}
	lines := append([]string{"# Tests that pass. Written by `make test-kubernetes-e2e ALL=yes`."}, slices.Sorted(slices.Values(passing))...)
	return os.WriteFile(filepath.Join(root, folder, passingFile(d)), []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}

// names are the lines of a list that are no comments.
func names(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

// parseObstacles reads parts of tests' names, one a line; the comment above them is the reason.
func parseObstacles(text string) []obstacle {
	var out []obstacle
	var reason []string
	open := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		comment, isComment := strings.CutPrefix(line, "#")
		switch {
		case isComment && open:
			reason = append(reason, strings.TrimSpace(comment))
		case isComment:
			reason, open = []string{strings.TrimSpace(comment)}, true
		case line == "":
			reason, open = nil, false
		default:
			out, open = append(out, obstacle{part: line, reason: strings.Join(reason, " ")}), false
		}
	}
	return out
}

// choose returns the tests to run of those that were found.
func (l lists) choose(found []string, all bool) ([]string, error) {
	if all {
		return slices.DeleteFunc(slices.Clone(found), func(name string) bool { return l.why(name) != "" }), nil
	}
	var errs []error
	for _, name := range l.passing {
		if !slices.Contains(found, name) {
			errs = append(errs, fmt.Errorf("no test is called %q any more", name))
		}
	}
	if len(l.passing) == 0 {
		errs = append(errs, errors.New("no test is known to pass: try all"))
	}
	return l.passing, errors.Join(errs...)
}

// why is the reason for which a test cannot pass here; empty if there is none.
func (l lists) why(name string) string {
	for _, o := range l.impossible {
		if strings.Contains(l.prefix+name, o.part) {
			return o.reason
		}
	}
	return ""
}

// stale says what is wrong with the list of impossible tests, given the whole names of all drivers' tests.
func stale(impossible []obstacle, found []string) error {
	var errs []error
	for _, o := range impossible {
		if o.reason == "" {
			errs = append(errs, fmt.Errorf("%s gives no reason for %q", impossibleFile, o.part))
		}
		if !slices.ContainsFunc(found, func(name string) bool { return strings.Contains(name, o.part) }) {
			errs = append(errs, fmt.Errorf("%s: no test has %q in its name any more", impossibleFile, o.part))
		}
	}
	return errors.Join(errs...)
}
