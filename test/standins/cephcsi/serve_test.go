package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestEndsWithoutItsSocket: ceph-csi ends when it cannot listen, whatever it serves elsewhere.
func TestEndsWithoutItsSocket(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "csi.sock")
	if err := os.MkdirAll(filepath.Join(socket, "in-the-way"), 0o755); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- serve(options{kind: "cephfs", controller: true, endpoint: "unix://" + socket, addonsEndpoint: "tcp://127.0.0.1:0"})
	}()
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "failed to remove "+socket) {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("it goes on without its socket")
	}
}
