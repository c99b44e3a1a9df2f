package faults

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
	"github.com/openshift/ceph-csi-driver-operator/test/faults"
	"github.com/openshift/ceph-csi-driver-operator/test/sample"
)

// journal is what was tried. The parts of a soak keep it in one file; a soak that follows, with the same operator, goes on from there.
type journal struct {
	Operator string
	// Cases is how many faults each change could meet.
	Cases map[string]int
	// Left is how much each change has left of the first turn, see inTurns.
	Left map[string]int
	// Tried are outcomes by change and attempt.
	Tried map[string]outcome
	// file is where it is kept, if anywhere.
	file string
}

type outcome struct {
	Change, Fault string
	// Hit is the write that the fault has happened at; without one it was not tried.
	Hit    string
	Failed bool
	// Problem is how it has failed.
	Problem string `json:",omitempty"`
	// Seconds are how long it was from the change to how it was to end.
	Seconds float64
}

func newJournal() journal {
	return journal{Cases: map[string]int{}, Left: map[string]int{}, Tried: map[string]outcome{}}
}

var results = newJournal()

func key(change string, one attempt) string { return change + ": " + one.String() }

// begin keeps how many attempts a change has, and has left of the first turn.
func (j *journal) begin(change string, cases, left int) {
	GinkgoHelper()
	j.update(func() { j.Cases[change], j.Left[change] = cases, left })
}

// of are the outcomes of a change's attempts.
func (j *journal) of(change string) func(attempt) (outcome, bool) {
	return func(a attempt) (outcome, bool) {
		o, tried := j.Tried[key(change, a)]
		return o, tried
	}
}

// inFirstTurn says that some change has not met all that comes first.
func (j *journal) inFirstTurn() bool {
	for _, left := range j.Left {
		if left > 0 {
			return true
		}
	}
	return false
}

// done says that there is nothing left to try of a change.
func (j *journal) done(change string) bool {
	tried := 0
	for _, o := range j.Tried {
		if o.Change == change {
			tried++
		}
	}
	return j.Cases[change] > 0 && tried >= j.Cases[change]
}

func (j *journal) String() string {
	tried, failed := map[string]int{}, map[string]int{}
	for _, o := range j.Tried {
		if o.Failed {
			failed[o.Change+o.Fault]++
		}
		if o.Failed || o.Hit != "" {
			tried[o.Change+o.Fault]++
		}
	}
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "tried, failed")
	for _, f := range faults.All {
		fmt.Fprint(w, "\t", f.Name)
	}
	for _, c := range slices.Sorted(maps.Keys(j.Cases)) {
		fmt.Fprint(w, "\n", c)
		for _, f := range faults.All {
			fmt.Fprintf(w, "\t%d, %d", tried[c+f.Name], failed[c+f.Name])
		}
	}
	fmt.Fprintln(w)
	_ = w.Flush()
	return out.String()
}

func inBin(name string) string {
	root, err := repository.Root()
	Expect(err).NotTo(HaveOccurred())
	return filepath.Join(root, "bin", name)
}

// resume reads the journal of a soak that has tried the same operator.
func (j *journal) resume() {
	GinkgoHelper()
	program, err := os.ReadFile(env.Program())
	Expect(err).NotTo(HaveOccurred())
	sum := sha256.Sum256(program)
	j.Operator, j.file = hex.EncodeToString(sum[:]), inBin("faults.json")
	j.update(func() {})
	if len(j.Tried) > 0 {
		fmt.Printf("%d attempts are in %s; remove it to begin anew\n", len(j.Tried), j.file)
	}
}

// note keeps how an attempt ended.
func (j *journal) note(key string, o outcome) {
	GinkgoHelper()
	j.update(func() { j.Tried[key] = o })
}

// update changes the journal, and its file, if it has one, with what other parts of the soak have written there.
func (j *journal) update(change func()) {
	GinkgoHelper()
	if j.file == "" {
		change()
		return
	}
	lock, err := os.OpenFile(j.file+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	Expect(err).NotTo(HaveOccurred())
	defer func() { Expect(lock.Close()).To(Succeed()) }()
	Expect(syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)).To(Succeed())
	text, err := os.ReadFile(j.file)
	if !errors.Is(err, fs.ErrNotExist) {
		Expect(err).NotTo(HaveOccurred())
		kept := newJournal()
		Expect(json.Unmarshal(text, &kept)).To(Succeed(), "remove %s to begin anew", j.file)
		if kept.Operator == j.Operator {
			j.Cases, j.Left, j.Tried = kept.Cases, kept.Left, kept.Tried
		}
	}
	change()
	text, err = json.Marshal(j)
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(j.file+".new", text, 0o644)).To(Succeed())
	Expect(os.Rename(j.file+".new", j.file)).To(Succeed())
}

var _ = ReportAfterSuite("results", func(SpecContext, Report) {
	results.update(func() {})
	text := fmt.Sprintf("SEED=%d\n%s", sample.Seed(), results.String())
	fmt.Print(text)
	Expect(os.WriteFile(inBin("faults.txt"), []byte(text), 0o644)).To(Succeed())
})
