package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNodeThatDoesNotStartSaysWhy(t *testing.T) {
	log := filepath.Join(t.TempDir(), "node-0.log")
	if err := os.WriteFile(log, []byte("Error: importing an image: no space left on device\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	node := booted{name: "node-0", logFile: log, says: bufio.NewReader(strings.NewReader(""))}
	err := node.await(t.Context())
	if err == nil || !strings.Contains(err.Error(), "node-0 does not start") || !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("it says %v", err)
	}
}
