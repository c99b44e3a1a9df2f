package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Record identifies a process beyond the reuse of its number.
type Record struct {
	Name string `json:"name"`
	PID  int    `json:"pid"`
	// StartTicks is the start time of the process, in clock ticks since the machine's start.
	StartTicks uint64 `json:"startTicks"`
}

// Self is the record of the running program.
func Self() (Record, error) { return recordOf("owner", os.Getpid()) }

// recordOf waits until the process shows its arguments: a started program has none yet for the
// moment in which the kernel loads it, and Alive would not know it again.
func recordOf(name string, pid int) (Record, error) {
	for deadline := time.Now().Add(execTimeout); ; <-time.After(time.Millisecond) {
		ticks, err := startTicks(pid)
		r := Record{Name: name, PID: pid, StartTicks: ticks}
		if err != nil || len(r.arguments()) > 0 {
			return r, err
		}
		if time.Now().After(deadline) {
			return r, fmt.Errorf("process %d (%s) shows no arguments", pid, name)
		}
	}
}

// arguments are those of whatever process has the number, each ended by a zero byte.
func (r Record) arguments() []byte {
	out, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", r.PID))
	return out
}

// Alive says whether the recorded process still runs. A daemon carries the cluster's folder
// in its arguments; another process that got number and start time after a reboot does not.
func (r Record) Alive(folder string) bool {
	ticks, err := startTicks(r.PID)
	if err != nil || ticks != r.StartTicks {
		return false
	}
	return bytes.Contains(r.arguments(), []byte(folder))
}

// execTimeout is far above what the kernel takes to load a program.
const execTimeout = 10 * time.Second

// killTimeout is far above what the kernel takes to end a process that is not stuck in a disk.
const killTimeout = 10 * time.Second

// Kill ends the recorded process, the leader of its own process group, and returns when it is gone.
func (r Record) Kill() error {
	if err := syscall.Kill(-r.PID, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
		return fmt.Errorf("killing %s (process %d): %w", r.Name, r.PID, err)
	}
	for deadline := time.Now().Add(killTimeout); r.Alive(""); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("%s (process %d) does not end", r.Name, r.PID)
		}
	}
	return nil
}

func startTicks(pid int) (uint64, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("process %d: %w", pid, err)
	}
	return parseStartTicks(string(stat))
}

// parseStartTicks reads field 22 of /proc/<pid>/stat. Field 2 is the program's name in
// parentheses and may itself hold blanks and parentheses. A zombie counts as gone.
func parseStartTicks(stat string) (uint64, error) {
	_, rest, found := cutLast(stat, ")")
	fields := strings.Fields(rest)
	if !found || len(fields) < 20 {
		return 0, fmt.Errorf("process status %q: too few fields", stat)
	}
	if state := fields[0]; state == "Z" || state == "X" {
		return 0, fmt.Errorf("process has ended (state %s)", state)
	}
	return strconv.ParseUint(fields[19], 10, 64)
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
