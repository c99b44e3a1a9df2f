package faults

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// asking preloads a program that asks for pools, creates one and removes an object, or sets a key of an image.
func asking(t *testing.T) (*Calls, func(arguments ...string) string) {
	t.Helper()
	dir := t.TempDir()
	library, program := filepath.Join(dir, "librados.so"), filepath.Join(dir, "program")
	for _, arguments := range [][]string{
		{"-shared", "-fPIC", "-o", library, "testdata/librados.c"},
		{"-o", program, "testdata/program.c", library},
	} {
		if out, err := exec.Command("gcc", arguments...).CombinedOutput(); err != nil {
			t.Fatalf("gcc %v: %v: %s", arguments, err, out)
		}
	}
	calls, err := Preload(filepath.Join(dir, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	return calls, func(arguments ...string) string {
		cmd := exec.Command(program, arguments...)
		cmd.Env = calls.Environment()
		out, err := cmd.Output()
		if err != nil {
			return string(out) + err.Error()
		}
		return string(out)
	}
}

const (
	list   = `{"detail":"detail","format":"json","prefix":"osd pool ls"}`
	create = `{"format":"json","pool":"ls","prefix":"osd pool create"}`
	listed = "done " + list + "\nanswer 0\n"
	gone   = "done object\nanswer 0\n"
)

func TestCalls(t *testing.T) {
	tests := map[string]struct {
		reason string
		fault  Fault
		at     int
		want   string
	}{
		"None":         {"all is as without it", Fault{}, 0, listed + "done " + create + "\nanswer 0\n" + gone},
		"Refused":      {"what only asks does not count, nor does the argument of a command", Fault{Call: Refused, Number: int(syscall.EACCES)}, 1, listed + "answer -13\n" + gone},
		"Each":         {"another one is met, too", Fault{Call: Refused, Number: int(syscall.EACCES), Each: 1}, 1, listed + "answer -13\nanswer -13\n"},
		"Lost":         {"it is done all the same", Fault{Call: Lost}, 1, listed + "done " + create + "\nanswer -110\n" + gone},
		"Hangs":        {"it is never done", Fault{Call: Hanging, Number: 1}, 2, listed + "done " + create + "\nanswer 0\nanswer -110\n"},
		"Belated":      {"it is done when nobody waits for it", Fault{Call: Belated, Number: 1}, 2, listed + "done " + create + "\nanswer 0\n" + gone},
		"KilledBefore": {"it is not done", Fault{Call: KilledBefore}, 2, listed + "done " + create + "\nanswer 0\nsignal: killed"},
		"KilledAfter":  {"it is done", Fault{Call: KilledAfter}, 1, listed + "done " + create + "\nsignal: killed"},
	}
	calls, run := asking(t)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if err := calls.Arm(tc.fault, tc.at); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, run()); diff != "" {
				t.Errorf("%s:\n%s", tc.reason, diff)
			}
			hit, err := calls.Hit()
			want := []string{"", create, "remove object pool/object"}[tc.at]
			if err != nil || hit != want {
				t.Errorf("hit %q, want %q: %v", hit, want, err)
			}
		})
	}
}

// TestCallsOfProgramsThatFollow has one that is started again after a fault go on without it.
func TestCallsOfProgramsThatFollow(t *testing.T) {
	calls, run := asking(t)
	if err := calls.Arm(Fault{Call: KilledBefore}, 1); err != nil {
		t.Fatal(err)
	}
	killed, whole := run(), run()
	if !strings.HasSuffix(killed, "killed") || !strings.HasSuffix(whole, gone) {
		t.Errorf("first %q, then %q", killed, whole)
	}
	writes, err := calls.Writes()
	if diff := cmp.Diff([]string{create, create, "remove object pool/object"}, writes); diff != "" || err != nil {
		t.Errorf("%s%v", diff, err)
	}
}

// TestCallsOnImages: a write says whose it is.
func TestCallsOnImages(t *testing.T) {
	calls, run := asking(t)
	if err := calls.Arm(Fault{}, 0); err != nil {
		t.Fatal(err)
	}
	if got := run("key"); got != "done key\nanswer 0\n" {
		t.Errorf("got %q", got)
	}
	writes, err := calls.Writes()
	if diff := cmp.Diff([]string{"rbd metadata_set image key"}, writes); diff != "" || err != nil {
		t.Errorf("%s%v", diff, err)
	}
}
