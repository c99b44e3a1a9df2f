package cephdaemons

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
)

func procFile(pid int, name string) string { return fmt.Sprintf("/proc/%d/%s", pid, name) }

// checkLoopback compares the sockets of each daemon with the machine's table of listening ones.
func checkLoopback(t *testing.T, group *process.Group) {
	t.Helper()
	const listening, anyAddress = "0A", "00000000"
	open := map[string]string{}
	for _, p := range group.Running() {
		links, err := filepath.Glob(procFile(p.PID, "fd/*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range links {
			if target, err := os.Readlink(link); err == nil {
				open[strings.TrimSuffix(strings.TrimPrefix(target, "socket:["), "]")] = p.Name
			}
		}
	}
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	listeners := 0
	for _, line := range strings.Split(string(table), "\n")[1:] {
		fields := strings.Fields(line)
		if len(fields) < 10 || fields[3] != listening || open[fields[9]] == "" {
			continue
		}
		listeners++
		if strings.HasPrefix(fields[1], anyAddress) {
			t.Errorf("%s listens on all addresses (%s)", open[fields[9]], fields[1])
		}
	}
	if listeners == 0 {
		t.Error("no listening socket found: the check sees nothing")
	}
}
