package rules

import (
	"go/ast"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func mustRead(t *testing.T, name string) string {
	t.Helper()
	dir, err := root()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// readmes are the README.md of every folder, by its path.
func readmes(t *testing.T) map[string]string {
	t.Helper()
	dir, err := root()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if entry.IsDir() && (rel == "vendor" || rel == "bin" || rel == ".git") {
			return fs.SkipDir
		}
		if entry.Name() == "README.md" {
			out[filepath.ToSlash(rel)] = mustRead(t, rel)
		}
		return nil
	})
	if err != nil || len(out) < 10 {
		t.Fatalf("found only %d README.md (%v)", len(out), err)
	}
	return out
}

// everyReadme is all of them as one text.
func everyReadme(t *testing.T) string {
	t.Helper()
	all := readmes(t)
	var out strings.Builder
	for _, path := range slices.Sorted(maps.Keys(all)) {
		out.WriteString(all[path] + "\n")
	}
	return out.String()
}

// TestReadmeIsShort: what one does not need to start with lies beside its code, and is found from README.md.
func TestReadmeIsShort(t *testing.T) {
	const most = 250
	if lines := strings.Count(mustRead(t, "README.md"), "\n"); lines > most {
		t.Errorf("README.md has %d lines, more than %d", lines, most)
	}
	links := readCode(mustRead(t, "README.md")).links
	for path := range readmes(t) {
		if path != "README.md" && !slices.Contains(links, path) {
			t.Errorf("README.md does not link to %s", path)
		}
	}
}

// atLeast guards against a check that finds nothing to check.
func atLeast(t *testing.T, n int, what string, found []string) []string {
	t.Helper()
	if len(found) < n {
		t.Fatalf("found only %d %s in the READMEs: %q", len(found), what, found)
	}
	return found
}

func TestReadmePathsExist(t *testing.T) {
	dir, err := root()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	texts := readmes(t)
	for in, text := range texts {
		readme := readCode(text)
		paths := readme.find(`(?:^|[\s=])((?:\.ci|assets|cmd|manifests|pkg|test)/[\w./-]*)`)
		for _, target := range readme.links {
			if strings.Contains(target, "://") {
				continue
			}
			name, anchor, found := strings.Cut(target, "#")
			path := in
			if name != "" {
				path = filepath.ToSlash(filepath.Join(filepath.Dir(in), name))
			}
			if found && !slices.Contains(anchors(texts[path]), anchor) {
				t.Errorf("%s links to %s: %s has no such heading", in, target, path)
			}
			paths = append(paths, path)
		}
		for _, path := range paths {
			if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(path))); err != nil {
				t.Errorf("%s names %s, which does not exist", in, path)
			}
		}
		all = append(all, paths...)
	}
	atLeast(t, 60, "paths", all)
}

// TestReadmeMapsEveryFolder: whoever looks for something finds the folder that has it.
func TestReadmeMapsEveryFolder(t *testing.T) {
	var mapped []string
	for _, target := range readCode(mustRead(t, "test/README.md")).links {
		mapped = append(mapped, filepath.ToSlash(filepath.Join("test", target)))
	}
	var folders []string
	for _, f := range mustSources(t) {
		if parts := strings.Split(f.dir, "/"); len(parts) > 1 && (parts[0] == "pkg" || parts[0] == "test") {
			folders = append(folders, strings.Join(parts[:2], "/"))
		}
	}
	slices.Sort(folders)
	for _, folder := range atLeast(t, 30, "folders", slices.Compact(folders)) {
		if !slices.Contains(mapped, folder) {
			t.Errorf("the map of test/README.md lacks %s", folder)
		}
	}
}

func TestReadmeMakeTargetsExist(t *testing.T) {
	makefile := mustRead(t, "Makefile")
	for _, target := range atLeast(t, 8, "make targets", readCode(everyReadme(t)).find(`\bmake ([a-z][\w-]*)`)) {
		if !regexp.MustCompile(`(?m)^` + target + `:`).MatchString(makefile) {
			t.Errorf("a README names `make %s`, which is no target of the Makefile", target)
		}
	}
}

func TestReadmeSubcommandsExist(t *testing.T) {
	var subcommands []string
	for _, f := range mustSources(t) {
		if f.dir != "cmd/ceph-csi-driver-operator" {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			field, ok := n.(*ast.KeyValueExpr)
			if ok && isName(field.Key, "Use") {
				if value, ok := field.Value.(*ast.BasicLit); ok {
					subcommands = append(subcommands, strings.Fields(strings.Trim(value.Value, `"`))[0])
				}
			}
			return true
		})
	}
	// The name of the program, not of an operator's Deployment or a folder.
	named := readCode(everyReadme(t)).find(`(?:^|[\s/])ceph-csi-driver-operator ([a-z][\w-]*)`)
	for _, subcommand := range atLeast(t, 1, "subcommands", named) {
		if !slices.Contains(subcommands, subcommand) {
			t.Errorf("a README names subcommand %s; there are %q", subcommand, subcommands)
		}
	}
}

func isName(e ast.Expr, name string) bool {
	ident, ok := e.(*ast.Ident)
	return ok && ident.Name == name
}

// conditionName is what types and reasons look like; other texts are messages.
var conditionName = regexp.MustCompile(`^[A-Z]\w*$`)

// TestReadmeHasEveryCondition keeps the tables of what users meet complete.
func TestReadmeHasEveryCondition(t *testing.T) {
	readme := everyReadme(t)
	var rows []string
	for _, header := range []string{"Condition", "Reason"} {
		for _, row := range table(readme, header) {
			rows = append(rows, row[0])
		}
	}
	var declared []string
	for _, f := range mustSources(t) {
		if f.dir == "pkg/condition" && !f.test && filepath.Base(f.path) != "parts.go" { // Nobody sees parts as such.
			declared = append(declared, texts(f)...)
		}
	}
	for _, name := range atLeast(t, 15, "conditions declared", slices.DeleteFunc(declared, func(s string) bool { return !conditionName.MatchString(s) })) {
		if !slices.Contains(rows, name) {
			t.Errorf("pkg/condition declares %s, of which no README says what to do", name)
		}
	}
}

func TestReadmeNamesObjects(t *testing.T) {
	readme := strings.Join(readCode(everyReadme(t)).spans, "\n") + "\n"
	for _, d := range driver.All {
		for _, name := range []string{
			d.Name, d.OperatorName(), d.ControllerName(), d.NodeName(), d.StorageClass, d.SnapshotClass,
			d.ConfigSecret(), d.ProvisionerSecret(), d.NodeSecret(), d.StateConfigMap(), d.StatusConfigMap(),
		} {
			if !strings.Contains(readme, "\n"+name+"\n") {
				t.Errorf("no README names %s of %s", name, d.Name)
			}
		}
	}
}

// TestReadmeControllers compares the table of controllers with the one in pkg/operator.
func TestReadmeControllers(t *testing.T) {
	rows := table(everyReadme(t), "Controller", "Package")
	files := mustSources(t)
	if wired := wiredControllers(t, files); len(rows) != wired {
		t.Errorf("the READMEs have %d controllers, pkg/operator starts %d", len(rows), wired)
	}
	for _, row := range rows {
		name, pkg := strings.TrimPrefix(row[0], "<prefix>"), row[1]
		if pkg == "library-go" {
			continue
		}
		here := func(f file) bool { return f.dir == pkg && !f.test && slices.Contains(texts(f), name) }
		if !slices.ContainsFunc(files, here) {
			t.Errorf("pkg/operator/README.md: no source in %s names controller %s", pkg, name)
		}
	}
}

// wiredControllers counts the rows of the list that pkg/operator starts.
func wiredControllers(t *testing.T, files []file) int {
	t.Helper()
	rows := 0
	for _, f := range files {
		if f.path != "pkg/operator/starter.go" {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			list, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if kind, ok := list.Type.(*ast.ArrayType); ok {
				if element, ok := kind.Elt.(*ast.SelectorExpr); ok && element.Sel.Name == "Controller" {
					rows += len(list.Elts)
				}
			}
			return true
		})
	}
	if rows == 0 {
		t.Fatal("found no list of controllers in pkg/operator/starter.go")
	}
	return rows
}
