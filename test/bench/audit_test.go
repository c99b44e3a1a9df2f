package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// audited is a line of an audit log, so many seconds after noon.
func audited(second int, stage, user, verb, resource string) string {
	at := noon.Add(time.Duration(second) * time.Second).Format("2006-01-02T15:04:05.000000Z")
	return fmt.Sprintf(`{"stage":%q,"verb":%q,"user":{"username":%q},"objectRef":{"resource":%q},"requestReceivedTimestamp":%q,"stageTimestamp":%q}`,
		stage, verb, user, resource, at, at)
}

func TestReadRequests(t *testing.T) {
	us := userOf(driver.RBD)
	const done = "ResponseComplete"
	tests := map[string]struct {
		line   string
		counts bool
		write  bool
	}{
		"Get":           {line: audited(1, done, us, "get", "roles"), counts: true},
		"List":          {line: audited(1, done, us, "list", "roles"), counts: true},
		"Update":        {line: audited(1, done, us, "update", "roles"), counts: true, write: true},
		"StatusPatch":   {line: audited(1, done, us, "patch", "clustercsidrivers"), counts: true, write: true},
		"Event":         {line: audited(1, done, us, "create", "events"), counts: true, write: true},
		"Panic":         {line: audited(1, "Panic", us, "get", "roles"), counts: true},
		"Review":        {line: audited(1, done, us, "create", "tokenreviews"), counts: true},
		"NoObject":      {line: `{"stage":"ResponseComplete","verb":"get","user":{"username":"` + us + `"},"requestURI":"/version","requestReceivedTimestamp":"2026-01-02T12:00:01.000000Z"}`, counts: true},
		"AtTheBegin":    {line: audited(0, done, us, "get", "roles"), counts: true},
		"Before":        {line: audited(-1, done, us, "get", "roles")},
		"Lease":         {line: audited(1, done, us, "update", "leases")},
		"Watch":         {line: audited(1, done, us, "watch", "roles")},
		"Started":       {line: audited(1, "ResponseStarted", us, "get", "roles")},
		"OtherOperator": {line: audited(1, done, userOf(driver.CephFS), "get", "roles")},
		"ToldOfUs":      {line: strings.Replace(audited(1, done, "admin", "get", "roles"), `"stage"`, `"note":"`+us+`","stage"`, 1)},
		"InWriting":     {line: audited(1, done, us, "get", "roles")[:80]},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := readRequests(strings.NewReader(tc.line+"\n"), us, noon)
			if err != nil {
				t.Fatal(err)
			}
			if (len(got) == 1) != tc.counts {
				t.Fatalf("%d requests read, want it counted: %t", len(got), tc.counts)
			}
			if tc.counts && isWrite(got[0]) != tc.write {
				t.Errorf("is a write: %t", isWrite(got[0]))
			}
		})
	}
}

func TestLastStaticWrite(t *testing.T) {
	us := userOf(driver.RBD)
	const done = "ResponseComplete"
	log := strings.Join([]string{
		audited(1, done, us, "create", "clusterroles"),
		audited(3, done, us, "create", "csidrivers"),
		audited(2, done, us, "update", "services"),
		audited(4, done, us, "get", "roles"),
		audited(5, done, us, "patch", "clustercsidrivers"),
		audited(6, done, us, "create", "events"),
	}, "\n")
	requests, err := readRequests(strings.NewReader(log), us, noon)
	if err != nil {
		t.Fatal(err)
	}
	if got := lastStaticWrite(requests).Sub(noon); got != 3*time.Second {
		t.Errorf("last write after %s, want that of the CSIDriver", got)
	}
	if got := lastStaticWrite(requests[3:]); !got.IsZero() {
		t.Errorf("a write at %s where there is none", got)
	}
}

// TestCountWrites: events tell of writes, and are not what a start costs.
func TestCountWrites(t *testing.T) {
	us := userOf(driver.RBD)
	status := strings.Replace(audited(1, "ResponseComplete", us, "patch", clusterCSIDrivers.Resource), `"objectRef":{`, `"objectRef":{"subresource":"status",`, 1)
	lines := []string{
		audited(1, "ResponseComplete", us, "create", "secrets"), audited(1, "ResponseComplete", us, "get", "secrets"),
		audited(1, "ResponseComplete", us, "create", "events"), audited(1, "ResponseComplete", us, "create", "tokenreviews"),
		audited(1, "ResponseComplete", us, "patch", clusterCSIDrivers.Resource), status,
	}
	requests, err := readRequests(strings.NewReader(strings.Join(lines, "\n")+"\n"), us, noon)
	if err != nil {
		t.Fatal(err)
	}
	if all, ofConditions := countWrites(requests); all != 3 || ofConditions != 1 {
		t.Errorf("counted %v writes, %v of conditions, want 3 and 1", all, ofConditions)
	}
}
