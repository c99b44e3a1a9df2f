package rules

import (
	"go/ast"
	"strings"
	"testing"
)

// deaf are the files whose controllers wait for a cache, and read it, but do not wake with its
// changes. Each of them looks again by itself, soon enough for what it reads there.
var deaf = map[string]string{
	"pkg/connection/connection.go": "polls each 5 s; the ConfigMap is its own record",
	"pkg/pools/controller.go":      "looks each minute; PersistentVolumes come and go by the thousand",
	"pkg/removal/removal.go":       "looks each 10 s while managementState is Removed; PersistentVolumes come and go by the thousand",
	"pkg/operator/clients.go":      "for the DaemonSet, which is looked at each minute; PersistentVolumes come and go by the thousand",
}

// stateless are the files whose controllers do not read what a person wants of the driver.
var stateless = map[string]string{
	"pkg/usage/controller.go":          "what is used is told whatever the ClusterCSIDriver says",
	"pkg/proof/keeper.go":              "looks only while a controller waits that reads it",
	"pkg/clusterstorage/controller.go": "the deciders have Storage's informer among them",
}

// TestWakeUps: what a controller reads wakes it. One that returns because something is not so yet,
// and does not hear when it is, is silent for ever if that was the last news.
func TestWakeUps(t *testing.T) {
	for _, f := range mustSources(t) {
		if f.test || !strings.HasPrefix(f.dir, "pkg/") {
			continue
		}
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			builds, hears := false, false
			ast.Inspect(fn, func(n ast.Node) bool {
				switch used := name(n); {
				case used == "WithBareInformers" || used == "silent":
					if deaf[f.path] == "" {
						t.Errorf("%s: %s: a controller that does not wake with what it reads must look again by itself; if it does, say so in this test",
							f.positions.Position(n.Pos()), used)
					}
					return used != "WithBareInformers" // which makes nobody hear of its arguments
				case used == "factory.New":
					builds = true
				case used == "Operator.Informer" || used == "operator.Informer":
					hears = true
				}
				return true
			})
			if builds && !hears && stateless[f.path] == "" {
				t.Errorf("%s: %s builds a controller that does not hear of the ClusterCSIDriver: it would miss when it is Managed again; controller.SpecChanges keeps its status away",
					f.positions.Position(fn.Pos()), fn.Name.Name)
			}
		}
	}
}

// name of what a call or a literal uses: the last two parts of a function's, the last one of a
// method's that is chained.
func name(n ast.Node) string {
	switch n := n.(type) {
	case *ast.CompositeLit:
		if id, ok := n.Type.(*ast.Ident); ok {
			return id.Name
		}
	case *ast.CallExpr:
		s, ok := n.Fun.(*ast.SelectorExpr)
		if !ok {
			return ""
		}
		switch x := s.X.(type) {
		case *ast.Ident:
			return x.Name + "." + s.Sel.Name
		case *ast.SelectorExpr:
			return x.Sel.Name + "." + s.Sel.Name
		}
		return s.Sel.Name
	}
	return ""
}
