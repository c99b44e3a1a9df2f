package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/node"
	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess"
)

// TestDemo tells the whole story once, on a cluster of its own.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a cluster")
	}
	t.Parallel()
	binary, err := operatorprocess.Binary()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	o := options{dir: t.TempDir(), binary: binary, exitWhenReady: true, timeout: 2 * time.Minute}
	err = run(t.Context(), o, newPrinter(&out, time.Now))
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, want := range []string{
		"rbd      place of volumes: Ceph has pool demo-x7k2p-rbd (application rbd",
		"cephfs   place of volumes: Ceph has subvolume group demo-x7k2p in filesystem",
		"rbd      StorageClass ceph-rbd exists, the default of the cluster\n",
		"cephfs   DaemonSet ceph-cephfs-csi-driver-node ready 8/8\n",
		"rbd      Deployment ceph-rbd-csi-driver-controller ready 2/2\n",
		"cephfs   Available is True\n",
		"cluster  both drivers were available ",
		"cluster  ClusterOperator storage: Available is True\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q was not told", want)
		}
	}
	if found := regexp.MustCompile(`AQ[A-Za-z0-9+/]{36}==`).FindString(out.String()); found != "" {
		t.Error("a cephx key was printed")
	}
	if t.Failed() {
		t.Log(out.String())
	}
}

// TestDemoOnRealNodes ends with a pod that wrote to both volumes.
func TestDemoOnRealNodes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a cluster")
	}
	if err := node.Missing(); err != nil {
		t.Skip("not run: ", err)
	}
	t.Parallel()
	var out strings.Builder
	o := options{dir: t.TempDir(), realNodes: true, exitWhenReady: true, timeout: 5 * time.Minute}
	if err := run(t.Context(), o, newPrinter(&out, time.Now)); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, want := range []string{
		"cephfs   DaemonSet ceph-cephfs-csi-driver-node ready 2/2\n",
		"rbd      PersistentVolumeClaim demo-rbd is bound\n",
		"rbd      pod demo: write /data/demo-rbd/file: 16777216 bytes in ",
		"cephfs   pod demo: verify /data/demo-cephfs/file: 16777216 bytes in ",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q was not told:\n%s", want, out.String())
		}
	}
}

// TestDemoOfAnOperatorThatDies says what the operator said last.
func TestDemoOfAnOperatorThatDies(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a cluster")
	}
	t.Parallel()
	o := options{dir: t.TempDir(), binary: "/bin/false", timeout: 2 * time.Minute}
	var out strings.Builder
	err := run(t.Context(), o, newPrinter(&out, time.Now))
	if err == nil || !strings.Contains(err.Error(), "ceph-cluster-storage ended (exit status 1)") || !strings.Contains(err.Error(), "stay in "+o.dir) {
		t.Errorf("got error %v, want the end of an operator and where the logs are\n%s", err, out.String())
	}
}
