package process

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// busyRole makes the test binary a program of many threads that never rest.
const busyRole = "PROCESS_TEST_BUSY"

func busy() {
	const threads = 16
	runtime.GOMAXPROCS(threads)
	for range threads {
		go func() {
			for {
				runtime.Gosched()
			}
		}()
	}
	select {}
}

// A frozen daemon answers nothing more from the moment on that Pause has returned.
func TestPauseWaitsForAllThreads(t *testing.T) {
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(busyRole, "yes")
	group := NewGroup(t.TempDir(), func(Record) error { return nil })
	p, err := group.Start("busy", executable)
	if err != nil {
		t.Fatal(err)
	}
	defer group.Kill()
	for round := range 300 {
		if err := p.Pause(); err != nil {
			t.Fatal(err)
		}
		if running := threadsRunning(t, p.PID); len(running) > 0 {
			t.Fatalf("round %d: threads that run after Pause: %v", round, running)
		}
		if err := p.Resume(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPauseTwice(t *testing.T) {
	group := NewGroup(t.TempDir(), func(Record) error { return nil })
	p, err := group.Start("sleep", "/bin/sleep", "600")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := p.Pause(); err != nil {
			t.Fatal(err)
		}
	}
	group.Kill()
	if err := p.Pause(); err == nil {
		t.Error("a program that has ended was paused")
	}
}

// threadsRunning are the threads of a process that are not stopped, with their states
// (/proc/<pid>/task/<tid>/stat).
func threadsRunning(t *testing.T, pid int) []string {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(files) == 0 {
		t.Fatalf("threads of %d: %d, %v", pid, len(files), err)
	}
	var running []string
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, state, _ := strings.Cut(string(content), ") ")
		if !strings.HasPrefix(state, "T") {
			running = append(running, filepath.Dir(file)+" "+state[:1])
		}
	}
	return running
}
