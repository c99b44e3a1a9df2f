//go:build cgo

package rados

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/ceph/go-ceph/rados"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

// testNamespaces: a namespace of ours is to librbd what one of its own is.
func testNamespaces(t *testing.T, c *cephdaemons.Ceph) {
	conn, err := Dial(t.Context(), source(t, c), quick)
	check(t, err)
	defer conn.Close()
	const pool = "namespaces"
	check(t, c.CreatePool(t.Context(), pool, "rbd"))
	check(t, conn.CreateNamespace(t.Context(), pool, "ours"))
	runRBD(t, c, "namespace", "create", pool+"/theirs")
	ours, theirs := directory(t, conn, pool, "ours"), directory(t, conn, pool, "theirs")
	if len(theirs) == 0 || !bytes.Equal(ours, theirs) {
		t.Errorf("the state of our directory is %q, of librbd's %q", ours, theirs)
	}
	runRBD(t, c, "create", "--size", "1M", pool+"/ours/image")
	var listed []struct{ Name string }
	check(t, json.Unmarshal(runRBD(t, c, "namespace", "ls", pool, "--format", "json"), &listed))
	names, err := conn.ImageNamespaces(t.Context(), pool)
	check(t, err)
	if len(listed) != 2 || listed[0].Name != "ours" || !slices.Equal(names, []string{"", "ours", "theirs"}) {
		t.Errorf("librbd lists %v, we list %q", listed, names)
	}
}

// directory is the state of the directory of a namespace.
func directory(t *testing.T, conn *Conn, pool, namespace string) []byte {
	t.Helper()
	state, err := in(t.Context(), conn, pool, namespace, func(io *rados.IOContext) ([]byte, error) {
		values, err := io.GetAllOmapValues(imageDirectory, "", "", 16)
		return values["state"], err
	})
	check(t, err)
	return state
}

// runRBD runs `rbd` as the administrator.
func runRBD(t *testing.T, c *cephdaemons.Ceph, arguments ...string) []byte {
	t.Helper()
	output, err := c.RBD(t.Context(), arguments...)
	if err != nil {
		t.Fatal(err)
	}
	return output
}
