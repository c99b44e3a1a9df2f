package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/openshift/library-go/pkg/controller/controllercmd"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestReadmeFlags: a subcommand has each flag that a README gives it, and each flag of our own is in
// some README.
func TestReadmeFlags(t *testing.T) {
	text := everyReadme(t)
	program := newCommand()
	command := regexp.MustCompile("(?m)(?:^|[ `])(start|cluster-storage|check|teardown|uninstall)((?: -[^`\\s]*)+)")
	flag := regexp.MustCompile(`--([a-z][a-z-]*)`)
	given := 0
	for _, call := range command.FindAllStringSubmatch(text, -1) {
		subcommand, _, err := program.Find(call[1:2])
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range flag.FindAllStringSubmatch(call[2], -1) {
			given++
			if subcommand.Flags().Lookup(name[1]) == nil {
				t.Errorf("a README has %q: %s has no such flag", strings.TrimSpace(call[0]), call[1])
			}
		}
	}
	if given < 10 {
		t.Errorf("found only %d flags of subcommands", given)
	}
	libraryGo := &cobra.Command{}
	controllercmd.NewControllerFlags().AddFlags(libraryGo)
	for _, subcommand := range program.Commands() {
		subcommand.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if libraryGo.Flags().Lookup(f.Name) != nil {
				return
			}
			long := regexp.MustCompile(`--` + f.Name + `\b`).MatchString(text)
			if short := f.Shorthand != "" && strings.Contains(text, "`-"+f.Shorthand+" "); !long && !short {
				t.Errorf("no README names --%s of %s", f.Name, subcommand.Name())
			}
		})
	}
}

// TestReadmeUninstallsAnywhere: outside a pod, uninstall refuses to guess which cluster is meant.
func TestReadmeUninstallsAnywhere(t *testing.T) {
	command := regexp.MustCompile(`(?m)^ {4}\S*ceph-csi-driver-operator uninstall.*$`)
	lines := command.FindAllString(everyReadme(t), -1)
	if len(lines) < 2 {
		t.Errorf("found only %d commands that uninstall", len(lines))
	}
	for _, line := range lines {
		if !strings.Contains(line, " --kubeconfig=") {
			t.Errorf("a README has %q, which does not name the cluster", strings.TrimSpace(line))
		}
	}
}

// everyReadme is the text of the README.md of all folders.
func everyReadme(t *testing.T) string {
	t.Helper()
	root := filepath.Join("..", "..")
	var out strings.Builder
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if rel, _ := filepath.Rel(root, path); entry.IsDir() && (rel == "vendor" || rel == "bin" || rel == ".git") {
			return fs.SkipDir
		}
		if entry.Name() == "README.md" {
			content, err := os.ReadFile(path)
			out.Write(content)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}
