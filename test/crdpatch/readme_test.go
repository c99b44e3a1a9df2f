package crdpatch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	operatorv1 "github.com/openshift/api/operator/v1"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
)

// TestReadmeDeclaresRook: without a Secret nothing but a person makes ClusterCSIDrivers, so those that the README has
// must be whole.
func TestReadmeDeclaresRook(t *testing.T) {
	root, err := repository.Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "pkg/connection/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	refusals := map[string]func(map[string]any) string{}
	for variant, v := range variants(t) {
		refusals[variant] = objectValidator(t, v.patched)
	}
	var found []string
	for _, document := range created(string(text)) {
		var object map[string]any
		if err := yaml.UnmarshalStrict([]byte(document), &object); err != nil {
			t.Fatal(err)
		}
		for variant, refusal := range refusals {
			if text := refusal(object); text != "" {
				t.Errorf("%s: %s\n%s", variant, text, document)
			}
		}
		config := object["spec"].(map[string]any)["driverConfig"].(map[string]any)
		member := config["ceph"].(map[string]any)
		delete(config, "ceph") // The Go type does not have it.
		rest, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		var cr operatorv1.ClusterCSIDriver
		if err := yaml.UnmarshalStrict(rest, &cr); err != nil {
			t.Errorf("%v\n%s", err, document)
		}
		found = append(found, cr.Name)
		d, ours := driver.Named(cr.Name)
		settings, err := driver.ParseHandwritten(d, driver.MemberPath, member)
		if !ours || err != nil || settings.RookNamespace == "" || cr.Spec.ManagementState != operatorv1.Managed {
			t.Errorf("no Managed ClusterCSIDriver with rookNamespace (%v):\n%s", err, document)
		}
		allow := "oc create rolebinding " + d.RookRole() + " -n " + settings.RookNamespace + " --clusterrole=" + d.RookRole() +
			" --serviceaccount=" + driver.Namespace + ":" + d.OperatorName()
		if !strings.Contains(string(text), "    "+allow+"\n") {
			t.Errorf("the README lacks %s", allow)
		}
	}
	if slices.Sort(found); !slices.Equal(found, []string{driver.CephFS.Name, driver.RBD.Name}) {
		t.Errorf("the README makes the ClusterCSIDrivers %q, want one for each driver", found)
	}
}

// created are the YAML documents that the command `oc create -f -` of a README reads.
func created(markdown string) []string {
	_, block, _ := strings.Cut(markdown, "    oc create -f - <<EOF\n")
	block, _, _ = strings.Cut(block, "    EOF\n")
	if block == "" {
		return nil
	}
	var lines strings.Builder
	for line := range strings.Lines(block) {
		lines.WriteString(strings.TrimPrefix(line, "    "))
	}
	return strings.Split(lines.String(), "---\n")
}
