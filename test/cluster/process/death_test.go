package process

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// ownerRole makes the test binary the owner of a daemon instead of running tests.
const ownerRole = "PROCESS_TEST_OWNER_FOLDER"

func TestMain(m *testing.M) {
	if os.Getenv(busyRole) != "" {
		busy()
	}
	folder := os.Getenv(ownerRole)
	if folder == "" {
		os.Exit(m.Run())
	}
	group := NewGroup(folder, func(Record) error { return nil })
	p, err := group.Start("sleep", "/bin/sleep", "600")
	if err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString(strconv.Itoa(p.PID) + "\n")
	<-p.Done()
}

func TestDaemonsDieWithTheirOwner(t *testing.T) {
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	owner := exec.Command(executable)
	owner.Env = append(os.Environ(), ownerRole+"="+t.TempDir())
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	daemon, err := recordOf("sleep", pid)
	if err != nil {
		t.Fatal(err)
	}
	_ = owner.Process.Kill()
	_ = owner.Wait()
	waitGone(t, daemon)
}

func TestKillTakesChildren(t *testing.T) {
	folder := t.TempDir()
	group := NewGroup(folder, func(Record) error { return nil })
	p, err := group.Start("sh", "/bin/sh", "-c", "sleep 600 & echo $! ; wait")
	if err != nil {
		t.Fatal(err)
	}
	child := Record{}
	eventually(t, "the child's number", func() bool {
		content, _ := os.ReadFile(folder + "/sh.log")
		pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
		if err != nil {
			return false
		}
		child, err = recordOf("sleep", pid)
		return err == nil
	})
	group.Kill()
	waitGone(t, child)
	if len(group.Running()) != 0 || p.Exited() == nil {
		t.Error("a killed group still runs")
	}
}

func waitGone(t *testing.T, r Record) {
	t.Helper()
	eventually(t, "the end of the process", func() bool { return !r.Alive("") })
}

func eventually(t *testing.T, what string, reached func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for ; !reached(); <-time.After(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not reached", what)
		}
	}
}
