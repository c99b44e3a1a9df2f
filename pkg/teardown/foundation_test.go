package teardown

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
)

// foundation are a user and a mark: what volumes rest on.
func foundation() *shelf {
	return &shelf{found: Findings{Decisions: []Decision{
		{Item{Kind: User, Name: "client.csi-rbd-node.a"}, Remove, "made by the operator for this cluster"},
		{Item{Kind: Protection, Place: Place{Pool: "rbd"}, Name: "nodelete"}, Remove, "marked by the operator of this cluster"},
	}}}
}

// TestFoundationStays: users and marks are what volumes rest on that could not be removed, perhaps
// because the cluster was started meanwhile.
func TestFoundationStays(t *testing.T) {
	tests := map[string]struct {
		reason  string
		volumes shelf
		change  func(*Config)
		code    int
		why     string
	}{
		"Failed": {"an image was opened meanwhile: the cluster came to life",
			shelf{broken: map[string]error{"x": errBoom}}, nil, CodeFailed, "image rbd/x could not be removed"},
		"Stopped": {"a part that found the cluster alive tells of no item",
			shelf{stops: errBoom}, nil, CodeFailed, "boom"},
		"Forced": {"--force is for volumes that nobody uses",
			shelf{found: Findings{Alive: []string{"image rbd/y is open at 10.0.0.1"}}}, func(c *Config) { c.Force = true }, CodeRefused, "image rbd/y is open at 10.0.0.1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.volumes.found.Decisions = []Decision{thing("x", Remove)}
			last := foundation()
			config := Config{Options: Options{InfraID: "a"}, Out: &bytes.Buffer{}, Parts: []Part{&tc.volumes, last}}
			if tc.change != nil {
				tc.change(&config)
			}
			report, err := Run(t.Context(), config)
			if err != nil || report.Code() != tc.code || !slices.Equal(tc.volumes.removed, []string{"x"}) || len(last.removed) > 0 {
				t.Fatalf("%s: %v, code %d, removed %q and %q", tc.reason, err, report.Code(), tc.volumes.removed, last.removed)
			}
			for _, l := range report.Items {
				if l.Kind != Image && !strings.Contains(l.Reason+l.Error, tc.why) {
					t.Errorf("%s: %s: %q, %q", tc.reason, l.Name, l.Reason, l.Error)
				}
			}
		})
	}
}

// TestFoundationGoes: nothing rests on it any more.
func TestFoundationGoes(t *testing.T) {
	last := foundation()
	report, err := Run(t.Context(), Config{Options: Options{InfraID: "a"}, Out: &bytes.Buffer{}, Parts: []Part{one(thing("x", Remove))[0], last}})
	if err != nil || report.Code() != CodeDone || len(last.removed) != 2 {
		t.Errorf("%v, code %d, removed %q", err, report.Code(), last.removed)
	}
}

// TestStartedBetweenParts: a run over thousands of images takes an hour, in which somebody may start
// the cluster.
func TestStartedBetweenParts(t *testing.T) {
	first, second := one(thing("x", Remove))[0], one(thing("y", Remove))[0]
	config := Config{Options: Options{InfraID: "a"}, Out: &bytes.Buffer{}, Parts: []Part{first, second, foundation()}}
	config.Running = func(context.Context) ([]string, error) {
		if len(first.removed) == 0 {
			return nil, nil
		}
		return []string{"the operator of rbd on host h"}, nil
	}
	report, err := Run(t.Context(), config)
	if err != nil || report.Code() != CodeFailed || len(second.removed) > 0 || len(report.Faults) != 1 || !strings.Contains(report.Faults[0], "the operator of rbd on host h") {
		t.Errorf("%v, code %d, removed %q, faults %q", err, report.Code(), second.removed, report.Faults)
	}
}
