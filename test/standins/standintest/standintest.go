// Package standintest runs a stand-in as the program that it is, from within its own tests.
package standintest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// variable tells a test's binary to be the stand-in.
const variable = "RUN_AS_STAND_IN"

// limit is how long a program may take over what takes it milliseconds.
const limit = time.Minute

// Main is TestMain of a stand-in's package.
func Main(m *testing.M, main func()) {
	if os.Getenv(variable) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Program is a stand-in that runs.
type Program struct {
	cmd    *exec.Cmd
	output output
	done   chan struct{}
}

// Start runs the stand-in with exactly these arguments until the test ends.
func Start(t *testing.T, arguments ...string) *Program {
	t.Helper()
	p := &Program{cmd: exec.Command(os.Args[0], arguments...), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), variable+"=yes")
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
		if t.Failed() {
			t.Logf("output of %q:\n%s", arguments, p.Output())
		}
	})
	return p
}

// Signal sends a signal.
func (p *Program) Signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
}

// Exit waits for the program's end and returns its code.
func (p *Program) Exit(t *testing.T) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	select {
	case <-p.done:
	case <-ctx.Done():
		t.Fatalf("still runs after %s", limit)
	}
	return p.cmd.ProcessState.ExitCode()
}

// Output is what the program has printed until now.
func (p *Program) Output() string { return p.output.String() }

// Eventually waits until the condition holds, while the program runs.
func (p *Program) Eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	for !condition() {
		select {
		case <-p.done:
			t.Fatalf("ended before %s", what)
		case <-ctx.Done():
			t.Fatalf("not within %s: %s", limit, what)
		case <-tick.C:
		}
	}
}

type output struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.String()
}
