//go:build cgo

package rados

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

// addImage makes an image with the library that ceph-csi uses.
func addImage(t *testing.T, c *cephdaemons.Ceph, at ceph.ImagePlace) {
	t.Helper()
	if at.Namespace != "" {
		_, err := c.RBD(t.Context(), "namespace", "create", at.Pool+"/"+at.Namespace)
		check(t, err)
	}
	_, err := c.RBD(t.Context(), "create", "--size", "64M", "--image-feature", "layering", at.String())
	check(t, err)
}

// checkImage compares metadata with what librbd reads.
func checkImage(t *testing.T, c *cephdaemons.Ceph, at ceph.ImagePlace, want map[string]string) {
	t.Helper()
	output, err := c.RBD(t.Context(), "image-meta", "list", "--format", "json", at.String())
	check(t, err)
	got := map[string]string{}
	check(t, json.Unmarshal(output, &got))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("librbd reads otherwise (-ours +librbd's):\n%s", diff)
	}
}

func addJournal(t *testing.T, c *cephdaemons.Ceph, pool, namespace, object string, keys []string) {
	t.Helper()
	for i := 0; i+1 < len(keys); i += 2 {
		_, err := c.RADOS(t.Context(), "-p", pool, "--namespace", namespace, "setomapval", object, keys[i], keys[i+1])
		check(t, err)
	}
}

func addSubvolume(t *testing.T, c *cephdaemons.Ceph, at ceph.SubvolumePlace) {
	t.Helper()
	arguments := []string{"fs", "subvolume", "create", at.Filesystem, at.Name}
	if at.Snapshot != "" {
		arguments = []string{"fs", "subvolume", "snapshot", "create", at.Filesystem, at.Name, at.Snapshot}
	}
	if at.Group != "" {
		arguments = append(arguments, "--group_name", at.Group)
	}
	command(t, c, arguments...)
}

func retainSubvolume(t *testing.T, c *cephdaemons.Ceph, at ceph.SubvolumePlace) {
	t.Helper()
	command(t, c, "fs", "subvolume", "rm", at.Filesystem, at.Name, "--group_name", at.Group, "--retain-snapshots")
}

// testMountedImage changes the metadata of an image that another client writes to.
func testMountedImage(t *testing.T, c *cephdaemons.Ceph) {
	check(t, c.CreatePool(t.Context(), "mounted", "rbd"))
	at := ceph.ImagePlace{Pool: "mounted", Name: "csi-vol-1"}
	_, err := c.RBD(t.Context(), "create", "--size", "64M", "--image-feature", "layering,exclusive-lock", at.String())
	check(t, err)
	conn, err := Dial(t.Context(), source(t, c), quick)
	check(t, err)
	defer conn.Close()
	written := make(chan error, 1)
	go func() {
		_, err := c.RBD(t.Context(), "bench", "--io-type", "write", "--io-size", "4K", "--io-total", "1M", "--io-threads", "1", at.String())
		written <- err
	}()
	for done := false; !done; {
		was, err := conn.ImageMetadata(t.Context(), at)
		check(t, err)
		value := strings.Repeat("x", len(was.Values["count"])%16+1)
		err = conn.ChangeImageMetadata(t.Context(), at, was, ceph.MetadataChange{Set: map[string]string{"count": value}})
		if err != nil && !errors.Is(err, ceph.ErrChanged) {
			t.Fatal(err)
		}
		select {
		case err := <-written:
			check(t, err)
			done = true
		default:
		}
	}
	checkImage(t, c, at, metadataOf(t, conn, at))
}

func metadataOf(t *testing.T, conn *Conn, at ceph.ImagePlace) map[string]string {
	t.Helper()
	metadata, err := conn.ImageMetadata(t.Context(), at)
	check(t, err)
	return metadata.Values
}
