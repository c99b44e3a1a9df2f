package faults

import (
	"bufio"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestJump has all clocks of a program, of Go and of C, jump and come back, but the one that measures.
func TestJump(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if out, err := exec.Command("go", "build", "-o", program, "./testdata/clock").CombinedOutput(); err != nil {
		t.Fatalf("building testdata/clock: %v: %s", err, out)
	}
	calls, err := Preload(filepath.Join(dir, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = calls.Environment()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	answers := bufio.NewReader(out)
	for _, by := range []time.Duration{0, time.Hour, -time.Hour, 0} {
		if err := calls.Jump(by); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(in)
		var ofGo, ofC, day, ran int64
		if _, err := fmt.Fscanln(answers, &ofGo, &ofC, &day, &ran); err != nil {
			t.Fatal(err)
		}
		want := time.Now().Add(by).Unix()
		for name, got := range map[string]int64{"Go": ofGo, "time": ofC, "gettimeofday": day} {
			if got < want-60 || got > want+60 {
				t.Errorf("by %s: it is %d to %s, want about %d", by, got, name, want)
			}
		}
		if ran > 60 || ran < 0 {
			t.Errorf("by %s: it has run for %d s", by, ran)
		}
	}
}
