package main

import (
	"slices"
	"testing"
)

func TestParseHierarchies(t *testing.T) {
	tests := map[string]struct {
		reason, mountinfo string
		want              []hierarchy
	}{
		"Unified": {
			reason:    "most machines of today have one tree",
			mountinfo: "22 27 0:22 / /sys rw,relatime - sysfs sysfs rw\n31 22 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n",
			want:      []hierarchy{{path: "/sys/fs/cgroup", kind: "cgroup2"}},
		},
		"Separate": {
			reason:    "a tree is mounted again by the controllers that it has",
			mountinfo: "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup systemd rw,xattr,name=systemd\n",
			want: []hierarchy{
				{path: "/sys/fs/cgroup/cpu,cpuacct", kind: "cgroup", options: "cpu,cpuacct"},
				{path: "/sys/fs/cgroup/systemd", kind: "cgroup", options: "none,name=systemd"},
			},
		},
		"Both": {
			reason:    "beside trees of version 1, that of version 2 has no controllers",
			mountinfo: "32 31 0:29 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n",
			want:      []hierarchy{{path: "/sys/fs/cgroup/pids", kind: "cgroup", options: "pids"}},
		},
		"Agent": {
			reason:    "an option of a tree that cannot be given twice",
			mountinfo: "32 31 0:29 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,release_agent=/lib/agent,name=systemd\n",
			want:      []hierarchy{{path: "/sys/fs/cgroup/systemd", kind: "cgroup", options: "none,name=systemd"}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := parseHierarchies(tc.mountinfo); !slices.Equal(got, tc.want) {
				t.Errorf("%s: got %+v, want %+v", tc.reason, got, tc.want)
			}
		})
	}
}

func TestDescribe(t *testing.T) {
	got := (&network{number: 7}).describe(2)
	if got.Gateway != "198.18.7.1" || got.Pods != "198.19.7.0/24" {
		t.Errorf("network %+v", got)
	}
	for i, want := range []string{"node-0 198.18.7.2 198.19.7.0/26", "node-1 198.18.7.3 198.19.7.64/26"} {
		if m := got.Members[i]; m.Name+" "+m.Address+" "+m.Pods != want {
			t.Errorf("member %+v, want %s", m, want)
		}
	}
}

func TestDeviceName(t *testing.T) {
	tests := map[string]struct {
		reason string
		device uint64
		want   string
	}{
		"Anonymous": {reason: "FUSE and memory", device: 0x2b, want: "0:43"},
		"Disk":      {reason: "both numbers", device: 254<<8 | 1, want: "254:1"},
		"Large":     {reason: "a minor number of more than eight bits", device: 0x100005, want: "0:261"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := deviceName(tc.device); got != tc.want {
				t.Errorf("%s: got %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}
