package faults

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
	"github.com/openshift/ceph-csi-driver-operator/test/faults"
	"github.com/openshift/ceph-csi-driver-operator/test/sample"
)

// journal is what was tried. A soak keeps it in a file; one that follows, with the same operator, goes on from there.
type journal struct {
	Operator string
	// Changes are in the order in which they were begun; Cases is how many faults each could meet.
	Changes []string
	Cases   map[string]int
	// Tried are outcomes by change and attempt.
	Tried map[string]outcome
}

type outcome struct {
	Change, Fault string
	// Hit is the write that the fault has happened at; without one it was not tried.
	Hit    string
	Failed bool
	// Seconds are how long it was from the change to how it was to end.
	Seconds float64
}

var results = journal{Cases: map[string]int{}, Tried: map[string]outcome{}}

func key(change string, one attempt) string { return change + ": " + one.String() }

func (j *journal) begin(change string, cases int) {
	if _, begun := j.Cases[change]; !begun {
		j.Changes = append(j.Changes, change)
	}
	j.Cases[change] = cases
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
	for _, c := range j.Changes {
		fmt.Fprint(w, "\n", c)
		for _, f := range faults.All {
			fmt.Fprintf(w, "\t%d, %d", tried[c+f.Name], failed[c+f.Name])
		}
	}
	fmt.Fprintln(w)
	_ = w.Flush()
	return out.String()
}

// journalFile is where a soak keeps it.
func journalFile() string { return inBin("faults.json") }

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
	j.Operator = hex.EncodeToString(sum[:])
	text, err := os.ReadFile(journalFile())
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	Expect(err).NotTo(HaveOccurred())
	var earlier journal
	Expect(json.Unmarshal(text, &earlier)).To(Succeed(), "remove %s to begin anew", journalFile())
	if earlier.Operator == j.Operator {
		*j = earlier
		fmt.Printf("%d attempts are in %s; remove it to begin anew\n", len(j.Tried), journalFile())
	}
}

// note keeps how an attempt ended, in the file too when soaking.
func (j *journal) note(key string, o outcome) {
	GinkgoHelper()
	j.Tried[key] = o
	if !sample.Soaking() {
		return
	}
	text, err := json.Marshal(j)
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(journalFile()+".new", text, 0o644)).To(Succeed())
	Expect(os.Rename(journalFile()+".new", journalFile())).To(Succeed())
}

var _ = ReportAfterSuite("results", func(SpecContext, Report) {
	text := fmt.Sprintf("SEED=%d\n%s", sample.Seed(), results.String())
	fmt.Print(text)
	Expect(os.WriteFile(inBin("faults.txt"), []byte(text), 0o644)).To(Succeed())
})
