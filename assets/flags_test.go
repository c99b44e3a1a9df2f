package assets_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestFlagsAreAccepted shows that one rendering fits every release: an unknown flag ends the
// program at once.
func TestFlagsAreAccepted(t *testing.T) {
	variables := map[string]string{}
	for variable, image := range images() {
		variables[image] = variable
	}
	for _, w := range workloads(t) {
		for _, c := range w.template.Spec.Containers {
			programs := releases[variables[c.Image]]
			if len(programs) == 0 {
				t.Errorf("%s: no release is known of the program of %s (%s)", w.meta.Name, c.Name, c.Image)
			}
			for release, accepted := range programs {
				problems := append(wrongArgs(c, accepted), wrongGates(c, gates[variables[c.Image]][release])...)
				for _, problem := range problems {
					t.Errorf("%s: %s of release %s: %s", w.meta.Name, c.Name, release, problem)
				}
			}
		}
	}
}

func wrongArgs(c corev1.Container, accepted []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, arg := range c.Args {
		flag, isFlag := strings.CutPrefix(arg, "--")
		name, _, hasValue := strings.Cut(flag, "=")
		switch {
		case !isFlag || !hasValue:
			out = append(out, arg+" is not of the form --flag=value")
		case !slices.Contains(accepted, name):
			out = append(out, "--"+name+" is not known")
		case seen[name]:
			out = append(out, "--"+name+" is given twice")
		}
		seen[name] = true
	}
	return out
}

// wrongGates are the feature gates that a release does not know, which ends it like an unknown
// flag.
func wrongGates(c corev1.Container, known []string) []string {
	var out []string
	for _, arg := range c.Args {
		list, given := strings.CutPrefix(arg, "--feature-gates=")
		if !given {
			continue
		}
		for gate := range strings.SplitSeq(list, ",") {
			name, value, _ := strings.Cut(gate, "=")
			if !slices.Contains(known, name) || value != "true" && value != "false" {
				out = append(out, "feature gate "+gate+" is not known")
			}
		}
	}
	return out
}

// TestArgumentsThatMatter are those whose absence nobody would notice at once.
func TestArgumentsThatMatter(t *testing.T) {
	tests := map[string]struct {
		reason    string
		workload  string
		container string
		args      []string
		never     bool
	}{
		"RBDTags":           {reason: "teardown finds volumes by their tags", workload: driver.RBD.ControllerName(), container: "csi-driver", args: []string{"--clustername=${CLUSTER_ID}", "--setmetadata=true"}},
		"CephFSTags":        {reason: "teardown finds volumes by their tags", workload: driver.CephFS.ControllerName(), container: "csi-driver", args: []string{"--clustername=${CLUSTER_ID}", "--setmetadata=true"}},
		"VolumeNames":       {reason: "without them the driver tags nothing", workload: driver.RBD.ControllerName(), container: "csi-provisioner", args: []string{"--extra-create-metadata=true"}},
		"SnapshotNames":     {reason: "without them the driver tags nothing", workload: driver.CephFS.ControllerName(), container: "csi-snapshotter", args: []string{"--extra-create-metadata=true"}},
		"GroupSnapshots":    {reason: "they are behind a feature gate", workload: driver.CephFS.ControllerName(), container: "csi-snapshotter", args: []string{"--feature-gates=CSIVolumeGroupSnapshot=true,ReleaseLeaderElectionOnExit=false"}},
		"RBDTopology":       {reason: "the driver reports topology without domains, with which a volume for a chosen node is never made", workload: driver.RBD.ControllerName(), container: "csi-provisioner", args: []string{"--feature-gates=Topology=false,ReleaseLeaderElectionOnExit=true", "--default-fstype=ext4"}},
		"CephFSTopology":    {reason: "nobody sets up topology", workload: driver.CephFS.ControllerName(), container: "csi-provisioner", args: []string{"--feature-gates=Topology=false,ReleaseLeaderElectionOnExit=true"}},
		"AttacherReleases":  {reason: "the next pod need not wait for the lease of one that ended", workload: driver.RBD.ControllerName(), container: "csi-attacher", args: []string{"--feature-gates=ReleaseLeaderElectionOnExit=true"}},
		"ResizerReleases":   {reason: "the next pod need not wait for the lease of one that ended", workload: driver.CephFS.ControllerName(), container: "csi-resizer", args: []string{"--feature-gates=ReleaseLeaderElectionOnExit=true"}},
		"CephFSHasNoFSType": {reason: "it is a filesystem", workload: driver.CephFS.ControllerName(), container: "csi-provisioner", args: []string{"--default-fstype=ext4"}, never: true},
		"RBDAddons":         {reason: "the default path cannot be written", workload: driver.RBD.ControllerName(), container: "csi-driver", args: []string{"--csi-addons-endpoint=unix:///csi/csi-addons.sock"}},
		"LogLevel":          {reason: "spec.logLevel reaches the driver", workload: driver.RBD.NodeName(), container: "csi-driver", args: []string{"--v=${LOG_LEVEL}", "--nodeserver=true"}},
		"Growing":           {reason: "volumes in use can grow", workload: driver.CephFS.ControllerName(), container: "csi-resizer", args: []string{"--handle-volume-inuse-error=false"}},
		"TLSProfile":        {reason: "the cluster's TLS profile holds for metrics", workload: driver.RBD.ControllerName(), container: "kube-rbac-proxy-driver", args: []string{"--tls-min-version=${TLS_MIN_VERSION}", "--tls-cipher-suites=${TLS_CIPHER_SUITES}"}},
	}
	args := map[string]map[string][]string{}
	for _, w := range workloads(t) {
		args[w.meta.Name] = map[string][]string{}
		for _, c := range w.template.Spec.Containers {
			args[w.meta.Name][c.Name] = c.Args
		}
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, arg := range tc.args {
				if slices.Contains(args[tc.workload][tc.container], arg) == tc.never {
					t.Errorf("%s: %s of %s has %v, wanted %s: %v", tc.reason, tc.container, tc.workload, args[tc.workload][tc.container], arg, !tc.never)
				}
			}
		})
	}
}
