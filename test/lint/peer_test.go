package lint

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// peer is openshift/gcp-pd-csi-driver-operator: its assets at f2427fae, and its operator's manifests, which
// are assets/csidriveroperators/gcp-pd of openshift/cluster-storage-operator at bb8d2fd1.
var peer = Findings{
	"pods in the node's network":                                           2,
	"pods among the node's processes":                                      0,
	"pods in the node's IPC":                                               0,
	"folders of the node in pods":                                          9,
	"folders of the node that containers may write to":                     11,
	"privileged containers":                                                2,
	"containers with a root file system to write to":                       0,
	"containers that may run as root":                                      13,
	"containers that may gain privileges":                                  13,
	"containers that keep capabilities":                                    13,
	"containers without a seccomp profile":                                 13,
	"containers without requests of CPU and memory":                        0,
	"verbs on kinds or groups by wildcard":                                 7,
	"verbs on all Secrets of the cluster, by roles of its own":             3,
	"verbs on all Secrets of the cluster, by roles that all drivers share": 2,
	"escalate, impersonate, and bind of any role":                          0,
	"verbs that write any role or binding":                                 16,
	"verbs that write any object of a kind in the cluster":                 93,
	"verbs that read any object of a kind in the cluster":                  101,
	"verbs that write any object of a kind in the namespace":               55,
}

// sharedRoles are in both: they are cluster-storage-operator's.
const sharedRoles = "../../assets/sharedroles"

func ours(t *testing.T, d driver.Driver) Findings {
	t.Helper()
	found, err := In("../../assets/testdata/golden/"+d.Kind, "../../assets/csidriveroperators/ceph-"+d.Kind, sharedRoles)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestFewerThanPeer(t *testing.T) {
	for _, d := range driver.All {
		found := ours(t, d)
		for _, name := range Classes() {
			if found[name] > 0 && found[name] >= peer[name] {
				t.Errorf("%s: %d %s, the peer has %d", d.Name, found[name], name, peer[name])
			}
		}
	}
}

// TestNoneAtAll is what no review lets pass, whatever others do.
func TestNoneAtAll(t *testing.T) {
	installed, err := In("../../manifests")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]Findings{"cluster-storage": installed}
	for _, d := range driver.All {
		all[d.Name] = ours(t, d)
	}
	for who, found := range all {
		for _, name := range []string{"verbs on kinds or groups by wildcard", "verbs on all Secrets of the cluster, by roles of its own",
			"verbs on all Secrets of the cluster, by roles that all drivers share", "escalate, impersonate, and bind of any role"} {
			if found[name] > 0 {
				t.Errorf("%s: %d %s", who, found[name], name)
			}
		}
	}
	if installed["verbs that read any object of a kind in the cluster"] == 0 {
		t.Error("nothing was counted in manifests/")
	}
}

// TestReadme keeps the table of figures.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	rbd, cephfs := ours(t, driver.RBD), ours(t, driver.CephFS)
	for _, name := range Classes() {
		if row := fmt.Sprintf("| %s | %d | %d | %d |\n", name, rbd[name], cephfs[name], peer[name]); !strings.Contains(string(readme), row) {
			t.Errorf("test/README.md lacks the row\n%s", row)
		}
	}
}
