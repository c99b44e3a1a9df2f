package teardown

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

var errBoom = errors.New("boom")

// shelf is a Part with things on it.
type shelf struct {
	found   Findings
	findErr error
	// broken are the names of what cannot be removed; stops ends a run.
	broken map[string]error
	notes  map[string]string
	stops  error

	before  []Decision
	removed []string
}

func (s *shelf) Find(_ context.Context, before []Decision) (Findings, error) {
	s.before = before
	return s.found, s.findErr
}

func (s *shelf) Remove(_ context.Context, agreed []Decision, tell func(Outcome)) error {
	for _, d := range agreed {
		s.removed = append(s.removed, d.Name)
		tell(Outcome{Decision: d, Err: s.broken[d.Name], Note: s.notes[d.Name]})
	}
	return s.stops
}

func thing(name string, v Verdict) Decision {
	return Decision{Item{Kind: Image, Place: Place{Pool: "rbd"}, Name: name, Size: 1 << 30, Tag: "a"}, v, "because"}
}

func one(decisions ...Decision) []*shelf {
	return []*shelf{{found: Findings{Decisions: decisions, Tags: map[string]int{"a": len(decisions)}}}}
}

func says(sentence string) func(context.Context) ([]string, error) {
	return func(context.Context) ([]string, error) { return []string{sentence}, nil }
}

func TestRun(t *testing.T) {
	tests := map[string]struct {
		reason  string
		shelves []*shelf
		change  func(*Config)
		answer  bool
		removed []string
		code    int
		err     error
		shows   []string
		asked   string
	}{
		"RemovesWhatWasAgreed": {
			reason:  "only what is to be removed reaches the part",
			shelves: one(thing("x", Remove), thing("y", Keep)),
			answer:  true, removed: []string{"x"}, asked: `Remove 1 image of cluster "a", 1 GiB in all, for good?`,
			shows: []string{"Will remove:", "rbd    image  x     1 GiB", "Stays:", "Removed 1 of 1 (1 GiB in all), 1 stay, 0 refused."},
		},
		"Refused": {
			reason:  "exit code 3 where something carries the tag and stays",
			shelves: one(thing("x", Remove), thing("y", Refuse)),
			answer:  true, removed: []string{"x"}, code: CodeRefused, shows: []string{"Refused:", "because", "1 refused."},
		},
		"NotConfirmed": {
			reason:  "nothing goes without a yes",
			shelves: one(thing("x", Remove)),
			err:     ErrNotConfirmed,
		},
		"DryRun": {
			reason:  "shows, and neither asks nor removes",
			shelves: one(thing("x", Remove), thing("y", Refuse)),
			change:  func(c *Config) { c.DryRun = true },
			code:    CodeRefused, shows: []string{"Would remove:", "Would remove 1 (1 GiB in all)"},
		},
		"Failure": {
			reason:  "the other things go all the same, and the failure wins over the refusal",
			shelves: []*shelf{{found: one(thing("x", Remove), thing("y", Remove), thing("z", Refuse))[0].found, broken: map[string]error{"x": errBoom}}},
			answer:  true, removed: []string{"x", "y"}, code: CodeFailed, shows: []string{"Failed: image rbd/x: boom", "Removed 1 of 2", "Run it again"},
		},
		"Stopped": {
			reason:  "a part that gives up is told of",
			shelves: []*shelf{{found: one(thing("x", Remove))[0].found, stops: errBoom}},
			answer:  true, removed: []string{"x"}, code: CodeFailed, shows: []string{"Stopped: boom"},
		},
		"Note": {
			reason:  "what waits for somebody else's clone is told of",
			shelves: []*shelf{{found: one(thing("x", Remove))[0].found, notes: map[string]string{"x": "waits in the trash"}}},
			answer:  true, removed: []string{"x"}, shows: []string{"Note: image rbd/x: waits in the trash"},
		},
		"Alive": {
			reason:  "a cluster that lives is not torn down, in no part",
			shelves: []*shelf{one(thing("x", Remove))[0], {found: Findings{Decisions: []Decision{thing("y", Remove)}, Tags: map[string]int{"a": 1}, Alive: []string{"y is open at 10.0.0.1"}}}},
			answer:  true, code: CodeRefused, shows: []string{"In use: y is open at 10.0.0.1", "the cluster is still in use (y is open at 10.0.0.1)", "--force"},
		},
		"AliveForced": {
			reason:  "--force limits the refusal to what the part refuses itself",
			shelves: []*shelf{{found: Findings{Decisions: []Decision{thing("x", Remove), thing("y", Refuse)}, Tags: map[string]int{"a": 2}, Alive: []string{"y is open"}}}},
			change:  func(c *Config) { c.Force = true },
			answer:  true, removed: []string{"x"}, code: CodeRefused,
		},
		"Running": {
			reason:  "an operator that answers is a cluster that lives, whatever else is said",
			shelves: one(thing("x", Remove), thing("y", Keep)),
			change:  func(c *Config) { c.Force, c.Confirm, c.Running = true, nil, says("the operator of rbd on host h") },
			code:    CodeRefused, shows: []string{"Running: the operator of rbd on host h", "the cluster lives: the operator of rbd on host h", "--force-living=a", "Stays:"},
		},
		"RunningForced": {
			reason:  "a person has said so with the infra ID",
			shelves: one(thing("x", Remove)),
			change:  func(c *Config) { c.ForceLiving, c.Running = true, says("the operator") },
			answer:  true, removed: []string{"x"}, shows: []string{"Running: the operator"},
		},
		"UnknownForced": {
			reason:  "nobody can tell who runs, and a person has said that it does not matter",
			shelves: one(thing("x", Remove)),
			change: func(c *Config) {
				c.ForceLiving = true
				c.Running = func(context.Context) ([]string, error) { return nil, errors.New("pool p does not answer") }
			},
			answer: true, removed: []string{"x"}, shows: []string{"Running: nobody can tell: pool p does not answer"},
		},
		"RunningDryRun": {
			reason:  "the rehearsal says the same",
			shelves: one(thing("x", Remove)),
			change:  func(c *Config) { c.DryRun, c.Running = true, says("the operator") },
			code:    CodeRefused, shows: []string{"Would remove 0"},
		},
		"StartedMeanwhile": {
			reason:  "whoever was asked took an hour to say yes",
			shelves: one(thing("x", Remove)),
			change: func(c *Config) {
				var asked int
				c.Running = func(context.Context) ([]string, error) {
					if asked++; asked == 1 {
						return nil, nil
					}
					return []string{"the operator"}, nil
				}
			},
			answer: true, err: ErrRunning,
		},
		"RunningUnknown": {
			reason:  "nobody can tell",
			shelves: one(thing("x", Remove)),
			change:  func(c *Config) { c.Running = func(context.Context) ([]string, error) { return nil, errBoom } },
			answer:  true, err: errBoom,
		},
		"WrongInfraID": {
			reason:  "nothing found is no fault; the tags that exist are shown",
			shelves: []*shelf{{found: Findings{Tags: map[string]int{"b": 7, "": 1}}}},
			shows:   []string{`Nothing carries the tag of a cluster "a"`, `7 carry the tag of "b"`},
		},
		"Broken": {
			reason:  "what cannot be read cannot be decided on",
			shelves: []*shelf{one(thing("x", Remove))[0], {findErr: errBoom}},
			answer:  true, err: errBoom,
		},
		"NoInfraID": {
			reason:  "no path runs without",
			shelves: one(thing("x", Remove)),
			change:  func(c *Config) { c.InfraID = " " },
			answer:  true, err: ErrNoInfraID,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			asked := ""
			config := Config{Options: Options{InfraID: "a"}, Out: &out, Confirm: func(text string) (bool, error) {
				asked = text
				return tc.answer, nil
			}}
			for _, s := range tc.shelves {
				config.Parts = append(config.Parts, s)
			}
			if tc.change != nil {
				tc.change(&config)
			}
			report, err := Run(t.Context(), config)
			if !errors.Is(err, tc.err) || err == nil && report.Code() != tc.code {
				t.Fatalf("%s: code %d, %v\n%s", tc.reason, report.Code(), err, out.String())
			}
			var removed []string
			for _, s := range tc.shelves {
				removed = append(removed, s.removed...)
			}
			if diff := cmp.Diff(tc.removed, removed); diff != "" {
				t.Errorf("%s: removed (-want +got):\n%s", tc.reason, diff)
			}
			for _, text := range tc.shows {
				if !strings.Contains(out.String(), text) {
					t.Errorf("%s: %q is missing:\n%s", tc.reason, text, out.String())
				}
			}
			if tc.asked != "" && asked != tc.asked {
				t.Errorf("asked %q, want %q", asked, tc.asked)
			}
		})
	}
}

func TestRunJSON(t *testing.T) {
	var out bytes.Buffer
	part := &shelf{found: Findings{Decisions: []Decision{thing("x", Remove), thing("y", Refuse)}, Tags: map[string]int{"a": 2}}}
	_, err := Run(t.Context(), Config{Options: Options{InfraID: "a"}, Out: &out, JSON: true, Parts: []Part{part}})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v:\n%s", err, out.String())
	}
	if got["exitCode"] != float64(CodeRefused) || len(got["items"].([]any)) != 2 {
		t.Errorf("got %s", out.String())
	}
	first := got["items"].([]any)[0].(map[string]any)
	if first["result"] != "removed" || first["verdict"] != "remove" || first["place"].(map[string]any)["pool"] != "rbd" {
		t.Errorf("got %v", first)
	}
}

// TestLaterPartsSeeEarlierOnes: whether users go depends on what becomes of the volumes.
func TestLaterPartsSeeEarlierOnes(t *testing.T) {
	first, second := one(thing("x", Keep))[0], &shelf{}
	_, err := Run(t.Context(), Config{Options: Options{InfraID: "a"}, Out: &bytes.Buffer{}, Parts: []Part{first, second}})
	if err != nil || len(second.before) != 1 || second.before[0].Name != "x" {
		t.Errorf("got %v, %v", second.before, err)
	}
}

func TestJudge(t *testing.T) {
	retained := Item{Name: "x", Retain: true}
	claimed := func(Item) string { return "PersistentVolume pv-1 of cluster b" }
	tests := map[string]struct {
		options Options
		item    Item
		want    Verdict
		says    string
	}{
		"Plain":          {Options{}, Item{}, Remove, "proof"},
		"Retained":       {Options{}, retained, Keep, "--include-retained"},
		"RetainedTaken":  {Options{IncludeRetained: true}, retained, Remove, "proof"},
		"Claimed":        {Options{Claimed: claimed}, Item{}, Refuse, "pv-1 of cluster b"},
		"ClaimedInclude": {Options{Claimed: claimed, IncludeRetained: true, Force: true}, retained, Refuse, "pv-1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := tc.options.Judge(tc.item, "proof")
			if got.Verdict != tc.want || !strings.Contains(got.Reason, tc.says) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestSelected(t *testing.T) {
	o := Options{Volumes: []ceph.VolumeHandle{{LocationID: 3, UUID: "u"}}}
	if !o.Selected(Item{Location: 3, UUID: "u"}) || o.Selected(Item{Location: 4, UUID: "u"}) || o.Selected(Item{Location: 3, UUID: "v"}) {
		t.Error("a run is not limited to the volumes that were named")
	}
	if !(Options{}).Selected(Item{}) {
		t.Error("a run without names is limited")
	}
}
