package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/faults"
	"github.com/openshift/ceph-csi-driver-operator/test/sample"
)

// tryAll is what was wrong with a change's attempts.
func tryAll(ctx context.Context, d driver.Driver, c change, random *rand.Rand) []string {
	GinkgoHelper()
	until := share.next()
	if only := os.Getenv("ONLY"); only != "" && !imaginable(c.name, regexp.MustCompile(only)) {
		Skip("ONLY=" + only)
	}
	if os.Getenv("ONLY") == "" && results.done(c.name) {
		Skip("nothing is left to try")
	}
	if c.prepare != nil {
		c.prepare(ctx)
	}
	undisturbed := learn(ctx, d, c)
	all := undisturbed.cases()
	count := func() {
		first, _ := inTurns(all, results.of(c.name))
		results.begin(c.name, len(all), len(first))
	}
	count()
	defer count()
	some := rounds(chosen(c.name, slices.Clone(all), random))
	var wrong []string
	for i, one := range some {
		if ctx.Err() != nil || !until.IsZero() && time.Now().After(until) {
			break // Somebody has ended the suite, or the rest is for another soak.
		}
		if !until.IsZero() {
			fmt.Printf("%s: %s, %d of %d; the next change is begun at %s, the last one ends at %s\n", c.name, one, i+1, len(some), until.Format(time.TimeOnly), share.end.Format(time.TimeOnly))
		}
		wrong = append(wrong, try(ctx, d, c, undisturbed, one)...)
	}
	return wrong
}

// try makes the change and takes it back, and returns what was wrong with it. Rounds that follow begin where it has led to.
func try(ctx context.Context, d driver.Driver, c change, undisturbed learned, r round) (wrong []string) {
	GinkgoHelper()
	By(r.String())
	for _, w := range []walk{{undisturbed.there, c.do, r.there}, {undisturbed.back, c.undo, r.back}} {
		hit, took := "", time.Duration(0)
		failures := InterceptGomegaFailures(func() { hit, took = w.expectSame(ctx, d, c) })
		if w.struck() && ctx.Err() == nil {
			results.note(key(c.name, w.attempt), outcome{Change: c.name, Fault: w.attempt.fault.Name, Hit: hit, Failed: len(failures) > 0, Problem: strings.Join(failures, "\n"), Seconds: took.Seconds()})
		}
		if len(failures) > 0 {
			out := fmt.Sprintf("%s: %s, %s:\n%s", c.name, w.attempt, hit, strings.Join(failures, "\n"))
			fmt.Println(out) // A soak goes on for long.
			wrong = append(wrong, out)
		}
	}
	return wrong
}

// shares are what is left of a soak's time, in equal parts. The zero end is none.
type shares struct {
	end  time.Time
	left int
}

var share shares

// next is when the next one is over.
func (s *shares) next() time.Time {
	defer func() { s.left-- }()
	if s.end.IsZero() {
		return time.Time{}
	}
	return time.Now().Add(time.Until(s.end) / time.Duration(s.left))
}

// startShares reads SOAK_TIME, which is for all that many parts. What ONLY asks for has no end.
func startShares(parts int) shares {
	GinkgoHelper()
	text := os.Getenv("SOAK_TIME")
	if text == "" || os.Getenv("ONLY") != "" {
		return shares{left: parts}
	}
	limit, err := time.ParseDuration(text)
	Expect(err).NotTo(HaveOccurred(), "SOAK_TIME")
	return shares{end: time.Now().Add(limit), left: parts}
}

// drivers are one of both for a sample, and both with SOAK.
func drivers(random *rand.Rand) []driver.Driver {
	if sample.Soaking() {
		return driver.All
	}
	return driver.All[random.IntN(len(driver.All)):][:1]
}

// chosen are those that ONLY, a regular expression, finds, a sample, or with SOAK what is in turn of those that are not in the journal.
func chosen(change string, all []attempt, random *rand.Rand) []attempt {
	if only := os.Getenv("ONLY"); only != "" {
		wanted := regexp.MustCompile(only)
		return slices.DeleteFunc(all, func(a attempt) bool { return !wanted.MatchString(key(change, a)) })
	}
	if !sample.Soaking() {
		return sample.Of(all, sampledFaults, random)
	}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	first, others := inTurns(all, results.of(change))
	if len(first) > 0 {
		return first
	}
	if results.inFirstTurn() {
		return nil // The time is for changes that have something left of it.
	}
	return others
}

// inTurns are what is not tried yet: the first turn has each fault that was met at no write, once, and kills the program at
// each write, at each eighth in one attempt.
func inTurns(all []attempt, of func(attempt) (outcome, bool)) (first, others []attempt) {
	met := map[string]bool{}
	for _, a := range all {
		if o, tried := of(a); tried && o.Hit != "" {
			met[a.fault.Name] = true
		}
	}
	var killed []attempt
	for _, a := range all {
		if _, tried := of(a); tried {
			continue
		}
		switch {
		case !met[a.fault.Name]:
			met[a.fault.Name] = true
			first = append(first, a)
		case a.fault.Each > 0:
			killed = append(killed, a)
		default:
			others = append(others, a)
		}
	}
	return append(first, killed...), others
}

// round is a fault on the way there, and one on the way back, or just one of both.
type round struct{ there, back attempt }

func (r round) String() string {
	return strings.Join(slices.DeleteFunc([]string{r.there.String(), r.back.String()}, func(s string) bool { return s == "" }), ", then ")
}

// rounds has as many attempts at once as it can, in their order.
func rounds(all []attempt) []round {
	var out []round
	there, back := 0, 0
	for _, a := range all {
		at := &there
		if a.back {
			at = &back
		}
		if *at == len(out) {
			out = append(out, round{back: attempt{back: true}})
		}
		if a.back {
			out[*at].back = a
		} else {
			out[*at].there = a
		}
		*at++
	}
	return out
}

// mostWrites is more than a change takes.
const mostWrites = 200

// imaginable says whether there could be such an attempt, as nobody knows before the change was learned.
func imaginable(change string, wanted *regexp.Regexp) bool {
	for _, f := range faults.All {
		for at := range mostWrites {
			for _, back := range []bool{false, true} {
				if wanted.MatchString(key(change, attempt{f, at + 1, back})) {
					return true
				}
			}
		}
	}
	return false
}
