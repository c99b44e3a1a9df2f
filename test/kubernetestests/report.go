package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// Names of Ginkgo's reports.
const (
	kindOfTest = "It"
	passed     = "passed"
	skipped    = "skipped"
)

// report is what counts of Ginkgo's for a suite.
type report struct {
	SpecialSuiteFailureReasons []string
	SpecReports                []spec
}

// spec is a test, or what is done before and after all.
type spec struct {
	ContainerHierarchyTexts []string
	LeafNodeType            string
	LeafNodeText            string
	State                   string
	Failure                 struct{ Message string }
}

// text is the name by which Ginkgo lists and chooses the test.
func (s spec) text() string {
	texts := append(slices.Clone(s.ContainerHierarchyTexts), s.LeafNodeText)
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), " ")
}

// outcome is what became of one test.
type outcome struct{ name, state, message string }

// outcomes reads Ginkgo's report, and returns those of the tests whose names start with prefix.
func outcomes(file, prefix string) ([]outcome, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("the tests left no report: %w", err)
	}
	var reports []report
	if err := json.Unmarshal(content, &reports); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var out []outcome
	for _, r := range reports {
		for _, reason := range r.SpecialSuiteFailureReasons {
			err = errors.Join(err, errors.New(reason))
		}
		for _, s := range r.SpecReports {
			name, ours := strings.CutPrefix(s.text(), prefix)
			switch {
			case s.LeafNodeType != kindOfTest && s.State != passed && s.State != skipped:
				err = errors.Join(err, fmt.Errorf("%s %s: %s", s.LeafNodeType, s.State, s.Failure.Message))
			case s.LeafNodeType == kindOfTest && ours:
				out = append(out, outcome{name: name, state: s.State, message: s.Failure.Message})
			}
		}
	}
	return out, err
}

// verdict is what became of the chosen tests.
type verdict struct {
	passed []string
	// others failed, were skipped, or were not run.
	others []outcome
}

func judge(chosen []string, all []outcome) verdict {
	var v verdict
	for _, name := range chosen {
		i := slices.IndexFunc(all, func(o outcome) bool { return o.name == name })
		switch {
		case i < 0:
			v.others = append(v.others, outcome{name: name, state: "missing", message: "it was not run"})
		case all[i].state == passed:
			v.passed = append(v.passed, name)
		default:
			v.others = append(v.others, all[i])
		}
	}
	return v
}

// print tells of the tests that did not pass; of those that the drivers' manifests do not ask for, each reason once.
func (v verdict) print(out io.Writer) {
	reasons := map[string]int{}
	for _, o := range v.others {
		message, _, _ := strings.Cut(strings.TrimSpace(o.message), "\n")
		if o.state == skipped {
			reasons[message]++
			continue
		}
		fmt.Fprintf(out, "  %s: %s\n    %s\n", o.state, o.name, message)
	}
	for _, message := range slices.Sorted(maps.Keys(reasons)) {
		fmt.Fprintf(out, "  %d skipped: %s\n", reasons[message], message)
	}
}
