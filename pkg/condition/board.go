package condition

import (
	"maps"
	"slices"
	"strings"
	"sync"

	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"k8s.io/utils/ptr"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
)

// Board has what all controllers of a process say, library-go's among them, and adds it up to the
// conditions of a ClusterCSIDriver. It is an informer that tells of each change.
type Board struct {
	ctrl.Listeners
	declared []Declaration
	// others are the types of library-go's controllers.
	others []string

	mu   sync.Mutex
	said map[string]*Said
	// generations are the last ones of the workloads, by kind, namespace and name.
	generations map[[4]string]int64
}

// NewBoard returns a Board of the declared conditions, beside which library-go's controllers say others.
func NewBoard(declared []Declaration, others []string) *Board {
	return &Board{
		declared: declared, others: others, said: map[string]*Said{},
		generations: map[[4]string]int64{},
	}
}

// Set keeps what a controller says: of a type that it leaves out, what it said last.
func (b *Board) Set(status *applyoperatorv1.OperatorStatusApplyConfiguration) {
	if b.set(status) {
		b.Wake()
	}
}

func (b *Board) set(status *applyoperatorv1.OperatorStatusApplyConfiguration) (changed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, said := range status.Conditions {
		before, known := b.said[*said.Type]
		changed = changed || !known || !same(before, &said)
		b.said[*said.Type] = &said
	}
	for _, g := range status.Generations {
		key := [4]string{ptr.Deref(g.Group, ""), ptr.Deref(g.Resource, ""), ptr.Deref(g.Namespace, ""), ptr.Deref(g.Name, "")}
		last := ptr.Deref(g.LastGeneration, 0)
		changed = changed || b.generations[key] != last
		b.generations[key] = last
	}
	return changed
}

func same(a, b *Said) bool {
	return ptr.Equal(a.Status, b.Status) && ptr.Equal(a.Reason, b.Reason) && ptr.Equal(a.Message, b.Message)
}

// Sum returns all conditions and generations as they should stand; held are those that stand now. A type
// with parts is bad as soon as one of them is, and good when all are known and none is bad; otherwise, and
// where nobody has said anything since the start, what stood last stands. What parts say are lines, the bad
// ones first.
func (b *Board) Sum(held *operatorv1.OperatorStatus) *applyoperatorv1.OperatorStatusApplyConfiguration {
	b.mu.Lock()
	defer b.mu.Unlock()
	sum := applyoperatorv1.OperatorStatus()
	add := func(said *Said, known bool, conditionType string) {
		if !known {
			said = stood(held.Conditions, conditionType)
		}
		if said != nil && said.Status != nil {
			sum.WithConditions(whole(said, held.Conditions))
		}
	}
	summed := map[string]bool{}
	for _, d := range b.declared {
		if len(d.Parts) > 0 {
			said, known := b.added(d)
			add(said, known, d.Type)
		}
		for _, part := range append([]string{d.Type}, d.Parts...) {
			summed[part] = len(d.Parts) > 0
		}
	}
	for _, conditionType := range b.types() {
		if !summed[conditionType] {
			add(b.said[conditionType], b.said[conditionType] != nil, conditionType)
		}
	}
	for _, g := range b.latest(held.Generations) {
		sum.WithGenerations(applyoperatorv1.GenerationStatus().WithGroup(g.Group).WithResource(g.Resource).
			WithNamespace(g.Namespace).WithName(g.Name).WithLastGeneration(g.LastGeneration))
	}
	return sum
}

// Generations are those that stand, with what was said since.
func (b *Board) Generations(held []operatorv1.GenerationStatus) []operatorv1.GenerationStatus {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.latest(held)
}

// latest are those that were said, or else stood, sorted.
func (b *Board) latest(held []operatorv1.GenerationStatus) []operatorv1.GenerationStatus {
	all := maps.Clone(b.generations)
	for _, g := range held {
		if key := [4]string{g.Group, g.Resource, g.Namespace, g.Name}; all[key] == 0 {
			all[key] = g.LastGeneration
		}
	}
	var out []operatorv1.GenerationStatus
	for _, key := range slices.SortedFunc(maps.Keys(all), func(a, b [4]string) int { return slices.Compare(a[:], b[:]) }) {
		out = append(out, operatorv1.GenerationStatus{Group: key[0], Resource: key[1], Namespace: key[2], Name: key[3], LastGeneration: all[key]})
	}
	return out
}

// types are all that controllers say or have said, sorted.
func (b *Board) types() []string {
	out := slices.Concat(b.others, slices.Collect(maps.Keys(b.said)))
	for _, d := range b.declared {
		out = append(out, d.Type)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// added adds up the parts of a declaration; not known where that is not decided.
func (b *Board) added(d Declaration) (*Said, bool) {
	var bad, good []*Said
	unknown := false
	for _, part := range d.Parts {
		said := b.said[part]
		switch {
		case said == nil:
			unknown = true
		case said.Status == nil:
		case isBad(said):
			bad = append(bad, said)
		default:
			good = append(good, said)
		}
	}
	switch {
	case len(bad) > 0:
		return together(d.Type, append(bad, good...)), true
	case unknown:
		return nil, false
	case len(good) > 0:
		return together(d.Type, good), true
	}
	return Absent(d.Type), true
}

// together is a condition with the status of the first part, the first reason that says something, and a line
// for each message.
func together(conditionType string, parts []*Said) *Said {
	reason := AsExpected
	var lines []string
	for _, part := range parts {
		if reason == AsExpected {
			reason = ptr.Deref(part.Reason, "")
		}
		if message := ptr.Deref(part.Message, ""); message != "" {
			lines = append(lines, message)
		}
	}
	return New(conditionType, *parts[0].Status, reason, strings.Join(share(lines), "\n"))
}

// share cuts lines that leave others no room: the longest ones, to the same length.
func share(lines []string) []string {
	if len(strings.Join(lines, "\n")) <= maxMessage {
		return lines
	}
	room, left := maxMessage, len(lines)
	limit := make([]int, len(lines))
	var shortest []int
	for i := range lines {
		shortest = append(shortest, i)
	}
	slices.SortStableFunc(shortest, func(a, b int) int { return len(lines[a]) - len(lines[b]) })
	for _, i := range shortest {
		limit[i] = min(len(lines[i]), room/left-len(string(ellipsis))-1)
		room -= limit[i] + len(string(ellipsis)) + 1
		left--
	}
	out := slices.Clone(lines)
	for i := range out {
		out[i] = cut(out[i], limit[i])
	}
	return out
}

// isBad says that a part is as it should not be.
func isBad(said *Said) bool {
	if strings.HasSuffix(*said.Type, operatorv1.OperatorStatusTypeDegraded) {
		return *said.Status != operatorv1.ConditionFalse
	}
	return *said.Status != operatorv1.ConditionTrue
}

// whole is a condition with all of its fields: what is left out would keep what a version wrote that had other field
// managers. So it has the time since when the status stands, which is theirs, too.
func whole(said *Said, held []operatorv1.OperatorCondition) *Said {
	out := New(*said.Type, *said.Status, ptr.Deref(said.Reason, ""), ptr.Deref(said.Message, ""))
	i := slices.IndexFunc(held, func(c operatorv1.OperatorCondition) bool { return c.Type == *said.Type && c.Status == *said.Status })
	if i >= 0 && !held[i].LastTransitionTime.IsZero() {
		out.WithLastTransitionTime(held[i].LastTransitionTime)
	}
	return out
}

// stood is the condition of that type as it stands; nil where there is none.
func stood(held []operatorv1.OperatorCondition, conditionType string) *Said {
	i := slices.IndexFunc(held, func(c operatorv1.OperatorCondition) bool { return c.Type == conditionType })
	if i < 0 {
		return nil
	}
	return New(conditionType, held[i].Status, held[i].Reason, held[i].Message)
}
