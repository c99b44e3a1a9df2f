package assets_test

import (
	"maps"
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
				for _, problem := range wrongArgs(c, accepted) {
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
		"GroupSnapshots":    {reason: "they are behind a feature gate", workload: driver.CephFS.ControllerName(), container: "csi-snapshotter", args: []string{"--feature-gates=CSIVolumeGroupSnapshot=true"}},
		"RBDTopology":       {reason: "the driver reports topology without domains", workload: driver.RBD.ControllerName(), container: "csi-provisioner", args: []string{"--immediate-topology=false", "--default-fstype=ext4"}},
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

// TestLeaderElection: every sidecar but the probe runs in both replicas and must not act in
// both.
func TestLeaderElection(t *testing.T) {
	want := []string{
		"--leader-election-lease-duration=${LEADER_ELECTION_LEASE_DURATION}",
		"--leader-election-namespace=" + driver.Namespace,
		"--leader-election-renew-deadline=${LEADER_ELECTION_RENEW_DEADLINE}",
		"--leader-election-retry-period=${LEADER_ELECTION_RETRY_PERIOD}",
		"--leader-election=true",
	}
	sidecars := map[string]bool{"csi-provisioner": true, "csi-attacher": true, "csi-resizer": true, "csi-snapshotter": true}
	for _, w := range workloads(t) {
		if w.node {
			continue
		}
		found := maps.Clone(sidecars)
		for _, c := range w.template.Spec.Containers {
			elects := slices.Sorted(func(yield func(string) bool) {
				for _, arg := range c.Args {
					if strings.HasPrefix(arg, "--leader-election") && !yield(arg) {
						return
					}
				}
			})
			if sidecars[c.Name] != slices.Equal(elects, want) {
				t.Errorf("%s: %s elects a leader with %v, want %v", w.meta.Name, c.Name, elects, want)
			}
			delete(found, c.Name)
		}
		if len(found) > 0 {
			t.Errorf("%s lacks sidecars %v", w.meta.Name, found)
		}
	}
}
