package rules

import (
	"go/ast"
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

// atLeast guards against a check that finds nothing to check.
func atLeast(t *testing.T, n int, what string, found []string) []string {
	t.Helper()
	if len(found) < n {
		t.Fatalf("found only %d %s in README.md: %q", len(found), what, found)
	}
	return found
}

func TestReadmePathsExist(t *testing.T) {
	dir, err := root()
	if err != nil {
		t.Fatal(err)
	}
	readme := readCode(mustRead(t, "README.md"))
	named := readme.find(`(?:^|[\s=])((?:\.ci|assets|cmd|manifests|pkg|test)/[\w./-]*)`)
	for _, path := range atLeast(t, 30, "paths", append(named, readme.links...)) {
		if strings.Contains(path, "://") {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(path))); err != nil {
			t.Errorf("README.md names %s, which does not exist", path)
		}
	}
}

func TestReadmeMakeTargetsExist(t *testing.T) {
	makefile := mustRead(t, "Makefile")
	for _, target := range atLeast(t, 8, "make targets", readCode(mustRead(t, "README.md")).find(`\bmake ([a-z][\w-]*)`)) {
		if !regexp.MustCompile(`(?m)^` + target + `:`).MatchString(makefile) {
			t.Errorf("README.md names `make %s`, which is no target of the Makefile", target)
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
	named := readCode(mustRead(t, "README.md")).find(`(?:^|[\s/])ceph-csi-driver-operator ([a-z][\w-]*)`)
	for _, subcommand := range atLeast(t, 1, "subcommands", named) {
		if !slices.Contains(subcommands, subcommand) {
			t.Errorf("README.md names subcommand %s; there are %q", subcommand, subcommands)
		}
	}
}

func isName(e ast.Expr, name string) bool {
	ident, ok := e.(*ast.Ident)
	return ok && ident.Name == name
}

// TestReadmeHasEveryCondition keeps the tables of what users meet complete.
func TestReadmeHasEveryCondition(t *testing.T) {
	readme := mustRead(t, "README.md")
	var rows []string
	for _, header := range []string{"Condition", "Reason"} {
		for _, row := range table(readme, header) {
			rows = append(rows, row[0])
		}
	}
	var declared []string
	for _, f := range mustSources(t) {
		if f.dir == "pkg/condition" && !f.test {
			declared = append(declared, texts(f)...)
		}
	}
	for _, name := range atLeast(t, 15, "conditions declared", slices.DeleteFunc(declared, func(s string) bool { return s == "" })) {
		if !slices.Contains(rows, name) {
			t.Errorf("pkg/condition declares %s, of which README.md does not say what to do", name)
		}
	}
}

func TestReadmeNamesObjects(t *testing.T) {
	readme := strings.Join(readCode(mustRead(t, "README.md")).spans, "\n") + "\n"
	for _, d := range driver.All {
		for _, name := range []string{
			d.Name, d.OperatorName(), d.ControllerName(), d.NodeName(), d.StorageClass, d.SnapshotClass,
			d.ConfigSecret(), d.ProvisionerSecret(), d.NodeSecret(), d.StateConfigMap(), d.StatusConfigMap(),
		} {
			if !strings.Contains(readme, "\n"+name+"\n") {
				t.Errorf("README.md does not name %s of %s", name, d.Name)
			}
		}
	}
}

// TestReadmeControllers compares the table of controllers with the one in pkg/operator.
func TestReadmeControllers(t *testing.T) {
	rows := table(mustRead(t, "README.md"), "Controller", "Package")
	files := mustSources(t)
	if wired := wiredControllers(t, files); len(rows) != wired {
		t.Errorf("README.md has %d controllers, pkg/operator starts %d", len(rows), wired)
	}
	for _, row := range rows {
		name, pkg := strings.TrimPrefix(row[0], "<prefix>"), row[1]
		if pkg == "library-go" {
			continue
		}
		here := func(f file) bool { return f.dir == pkg && !f.test && slices.Contains(texts(f), name) }
		if !slices.ContainsFunc(files, here) {
			t.Errorf("README.md: no source in %s names controller %s", pkg, name)
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
