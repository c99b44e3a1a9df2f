package condition

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// TestBoard: what people see is stable, bad news comes at once, and good news when all is known.
func TestBoard(t *testing.T) {
	declared := []Declaration{
		{Type: "ThingsDegraded", Parts: []string{"ADegraded", "BDegraded"}},
		{Type: "ClassesUsable", Parts: []string{"CUsable", "DUsable"}, Absent: "without classes"},
		{Type: "Brief", Absent: "otherwise"},
	}
	bad := func(part, message string) *Said {
		return New(part, operatorv1.ConditionTrue, "Broken"+part, message)
	}
	unusable := New("CUsable", operatorv1.ConditionFalse, "Foreign", "c is foreign")
	usable := func(part string) *Said { return New(part, operatorv1.ConditionTrue, AsExpected, "") }
	stood := operatorv1.OperatorCondition{Type: "ThingsDegraded", Status: operatorv1.ConditionTrue, Reason: "Before", Message: "of before"}
	condition := func(kind string, status operatorv1.ConditionStatus, reason, message string) operatorv1.OperatorCondition {
		return operatorv1.OperatorCondition{Type: kind, Status: status, Reason: reason, Message: message}
	}
	tests := map[string]struct {
		reason string
		said   []*Said
		held   []operatorv1.OperatorCondition
		want   []operatorv1.OperatorCondition
	}{
		"Nothing":      {"nobody has said anything: an invented condition would count", nil, nil, nil},
		"Stood":        {"after a restart, what stood last stands until it is known anew", nil, []operatorv1.OperatorCondition{stood}, []operatorv1.OperatorCondition{stood}},
		"SomebodyElse": {"a condition that is not declared is somebody else's, and not ours to write", nil, []operatorv1.OperatorCondition{{Type: "Other"}}, nil},
		"OneUnknown": {
			"one good part is not the whole", []*Said{Good("ADegraded")},
			[]operatorv1.OperatorCondition{stood}, []operatorv1.OperatorCondition{stood},
		},
		"OneBad": {
			"bad news waits for nobody", []*Said{bad("BDegraded", "b is broken")}, nil,
			[]operatorv1.OperatorCondition{condition("ThingsDegraded", operatorv1.ConditionTrue, "BrokenBDegraded", "b is broken")},
		},
		"BothBad": {
			"a line for each, in the declared order, whoever came first", []*Said{bad("BDegraded", "b is broken"), bad("ADegraded", "a is broken")}, nil,
			[]operatorv1.OperatorCondition{condition("ThingsDegraded", operatorv1.ConditionTrue, "BrokenADegraded", "a is broken\nb is broken")},
		},
		"BadFirst": {
			"a note of what is well comes after what is not", []*Said{Good("ADegraded").WithMessage("a may age"), bad("BDegraded", "b is broken")}, nil,
			[]operatorv1.OperatorCondition{condition("ThingsDegraded", operatorv1.ConditionTrue, "BrokenBDegraded", "b is broken\na may age")},
		},
		"AllGood": {
			"what was bad before is over", []*Said{Good("ADegraded"), Good("BDegraded").WithMessage("b may age")},
			[]operatorv1.OperatorCondition{stood}, []operatorv1.OperatorCondition{condition("ThingsDegraded", operatorv1.ConditionFalse, AsExpected, "b may age")},
		},
		"GoodAgain": {
			"what is said last counts", []*Said{bad("ADegraded", "a is broken"), Good("BDegraded"), Good("ADegraded")}, nil,
			[]operatorv1.OperatorCondition{condition("ThingsDegraded", operatorv1.ConditionFalse, AsExpected, "")},
		},
		"Absent": {
			"a part that is not there is known", []*Said{usable("CUsable"), Absent("DUsable")}, nil,
			[]operatorv1.OperatorCondition{condition("ClassesUsable", operatorv1.ConditionTrue, AsExpected, "")},
		},
		"AllAbsent": {
			"there is nothing to say any more", []*Said{Absent("CUsable"), Absent("DUsable")},
			[]operatorv1.OperatorCondition{{Type: "ClassesUsable", Status: operatorv1.ConditionFalse}}, nil,
		},
		"False": {
			"a type that is True while all is well is bad when False", []*Said{unusable, usable("DUsable")}, nil,
			[]operatorv1.OperatorCondition{condition("ClassesUsable", operatorv1.ConditionFalse, "Foreign", "c is foreign")},
		},
		"AsItIs": {
			"without parts, it is as a controller says, library-go's that nobody has declared among them",
			[]*Said{New("Brief", operatorv1.ConditionTrue, "R", "m"), Good("LibraryDegraded"), Good("UndeclaredDegraded")}, nil,
			[]operatorv1.OperatorCondition{
				condition("Brief", operatorv1.ConditionTrue, "R", "m"), condition("LibraryDegraded", operatorv1.ConditionFalse, AsExpected, ""),
				condition("UndeclaredDegraded", operatorv1.ConditionFalse, AsExpected, ""),
			},
		},
		"TakenBack": {
			"it was there before the start, and is over", []*Said{Absent("Brief")}, []operatorv1.OperatorCondition{{Type: "Brief", Status: operatorv1.ConditionTrue}}, nil,
		},
		"LibraryStood": {
			"library-go's controllers, too, have to come round to it after a start", nil,
			[]operatorv1.OperatorCondition{condition("LibraryDegraded", operatorv1.ConditionTrue, "R", "m")},
			[]operatorv1.OperatorCondition{condition("LibraryDegraded", operatorv1.ConditionTrue, "R", "m")},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			board := NewBoard(declared, []string{"LibraryDegraded"})
			for _, said := range tc.said {
				board.Set(applyoperatorv1.OperatorStatus().WithConditions(said))
			}
			var got []operatorv1.OperatorCondition
			for _, c := range board.Sum(&operatorv1.OperatorStatus{Conditions: tc.held}).Conditions {
				got = append(got, condition(*c.Type, *c.Status, ptr.Deref(c.Reason, ""), ptr.Deref(c.Message, "")))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestBoardLongMessages: however much a part has to say, the others are heard.
func TestBoardLongMessages(t *testing.T) {
	board := NewBoard([]Declaration{{Type: "ThingsDegraded", Parts: []string{"ADegraded", "BDegraded", "CDegraded"}}}, nil)
	say := func(part, message string) {
		board.Set(applyoperatorv1.OperatorStatus().WithConditions(New(part, operatorv1.ConditionTrue, "R", message)))
	}
	say("ADegraded", strings.Repeat("a", 2*maxMessage))
	say("BDegraded", "b is broken")
	say("CDegraded", strings.Repeat("c", 2*maxMessage))
	got := *board.Sum(&operatorv1.OperatorStatus{}).Conditions[0].Message
	lines := strings.Split(got, "\n")
	if len(lines) != 3 || lines[1] != "b is broken" || len(got) > maxMessage+len(string(ellipsis)) {
		t.Fatalf("%d lines, %d bytes", len(lines), len(got))
	}
	if min(len(lines[0]), len(lines[2])) < maxMessage*4/10 || !strings.HasSuffix(lines[0], string(ellipsis)) {
		t.Errorf("shares of %d and %d bytes", len(lines[0]), len(lines[2]))
	}
	say("CDegraded", "c is broken")
	if got := *board.Sum(&operatorv1.OperatorStatus{}).Conditions[0].Message; len(got) < maxMessage*9/10 || !strings.HasSuffix(got, "…\nb is broken\nc is broken") {
		t.Errorf("what others leave is to be had: %d bytes, ending %q", len(got), got[max(0, len(got)-40):])
	}
}

// TestBoardTakesOver: of a version whose controllers wrote one by one, their fields are still theirs.
func TestBoardTakesOver(t *testing.T) {
	since := metav1.NewTime(time.Unix(1000, 0))
	before := operatorv1.OperatorCondition{Type: "XDegraded", Status: operatorv1.ConditionTrue, Reason: "Broken", Message: "m", LastTransitionTime: since}
	held := &operatorv1.OperatorStatus{Conditions: []operatorv1.OperatorCondition{before}}
	for _, tc := range []struct {
		reason string
		said   *Said
		want   *Said
	}{
		{"it has been so since then", nil, New("XDegraded", operatorv1.ConditionTrue, "Broken", "m").WithLastTransitionTime(since)},
		{
			"another message is no transition", New("XDegraded", operatorv1.ConditionTrue, "Broken", "n"),
			New("XDegraded", operatorv1.ConditionTrue, "Broken", "n").WithLastTransitionTime(since),
		},
		{
			"a field that is left out, as library-go does, would keep what the former owner wrote",
			applyoperatorv1.OperatorCondition().WithType("XDegraded").WithStatus(operatorv1.ConditionFalse).WithReason(AsExpected), Good("XDegraded"),
		},
	} {
		board := NewBoard(nil, []string{"XDegraded"})
		if tc.said != nil {
			board.Set(applyoperatorv1.OperatorStatus().WithConditions(tc.said))
		}
		if diff := cmp.Diff([]Said{*tc.want}, board.Sum(held).Conditions); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
}

// TestBoardGenerations: library-go's workload controllers keep theirs among the conditions.
func TestBoardGenerations(t *testing.T) {
	board := NewBoard(nil, nil)
	generation := func(name string, last int64) *applyoperatorv1.GenerationStatusApplyConfiguration {
		return applyoperatorv1.GenerationStatus().WithGroup("apps").WithResource("deployments").WithNamespace("ns").WithName(name).WithLastGeneration(last)
	}
	board.Set(applyoperatorv1.OperatorStatus().WithGenerations(generation("b", 1)))
	board.Set(applyoperatorv1.OperatorStatus().WithGenerations(generation("a", 1)))
	board.Set(applyoperatorv1.OperatorStatus().WithGenerations(generation("b", 2)))
	want := applyoperatorv1.OperatorStatus().WithGenerations(generation("a", 1), generation("b", 2))
	if diff := cmp.Diff(want, board.Sum(&operatorv1.OperatorStatus{})); diff != "" {
		t.Errorf("each workload's last one, in an order that stands (-want +got):\n%s", diff)
	}
}

type counter struct{ times int }

func (c *counter) OnAdd(any, bool)   {}
func (c *counter) OnUpdate(any, any) { c.times++ }
func (c *counter) OnDelete(any)      {}

// TestBoardTellsOfChanges: controllers say what they say at each sync.
func TestBoardTellsOfChanges(t *testing.T) {
	board, news := NewBoard(nil, nil), &counter{}
	if _, err := board.AddEventHandler(news); err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		reason string
		said   *Said
		times  int
	}{
		{"it is new", Good("XDegraded"), 1},
		{"it is the same", Good("XDegraded"), 1},
		{"its message is another", Good("XDegraded").WithMessage("m"), 2},
		{"it is not there any more", Absent("XDegraded"), 3},
		{"that is known", Absent("XDegraded"), 3},
		{"that another one is not there is news after a start", Absent("YDegraded"), 4},
	} {
		if board.Set(applyoperatorv1.OperatorStatus().WithConditions(step.said)); news.times != step.times {
			t.Errorf("step %d, %s: %d changes, want %d", i, step.reason, news.times, step.times)
		}
	}
}
