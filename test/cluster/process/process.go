// Package process runs the daemons of an embedded cluster so that none of them can outlive
// the program that started it, whichever way that program ends.
package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Process is a daemon that Group.Start started.
type Process struct {
	Record
	logFile string
	done    chan struct{}
	err     error
}

// Done is closed when the daemon has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exited is nil while the daemon runs. Afterwards it says how the daemon ended and shows the
// end of its log.
func (p *Process) Exited() error {
	select {
	case <-p.done:
		return fmt.Errorf("%s ended (%v); end of %s:\n%s", p.Name, p.err, p.logFile, LastLines(p.logFile, 15))
	default:
		return nil
	}
}

// Crashed says that the daemon ended by a signal that a program sends to itself: at a failed
// assertion, or a wrong access to memory.
func (p *Process) Crashed() bool {
	var exit *exec.ExitError
	if p.Exited() == nil || !errors.As(p.err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && (status.Signal() == syscall.SIGABRT || status.Signal() == syscall.SIGSEGV)
}

// Failed says that the daemon ended by itself, with an error.
func (p *Process) Failed() bool {
	var exit *exec.ExitError
	return p.Exited() != nil && errors.As(p.err, &exit) && exit.ExitCode() > 0
}

// Kill ends the daemon and everything it started, and waits until it is gone.
func (p *Process) Kill() {
	_ = p.signal(syscall.SIGKILL)
	<-p.done
}

// Stop asks the daemon to end and waits for that. When ctx ends first, it is killed, which
// is an error.
func (p *Process) Stop(ctx context.Context) error {
	if err := p.signal(syscall.SIGTERM); err != nil {
		return err
	}
	return p.wait(ctx, "SIGTERM")
}

// wait for the end that a signal asks for.
func (p *Process) wait(ctx context.Context, name string) error {
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		p.Kill()
		return fmt.Errorf("%s (process %d) ignored %s and was killed: %w", p.Name, p.PID, name, ctx.Err())
	}
}

// Dump ends a Go program with the stacks of all its goroutines in its log, and waits for that. When
// ctx ends first, it is killed, which is an error. Its first thread is Go's: another one may be that
// of a C library, where the signal ends the program in silence.
func (p *Process) Dump(ctx context.Context) error {
	if p.Exited() != nil {
		return fmt.Errorf("%s (process %d) has ended", p.Name, p.PID)
	}
	if err := syscall.Tgkill(p.PID, p.PID, syscall.SIGQUIT); err != nil {
		return fmt.Errorf("sending SIGQUIT to %s (process %d): %w", p.Name, p.PID, err)
	}
	return p.wait(ctx, "SIGQUIT")
}

// Pause freezes the daemon: its connections stay open and answer nothing. It waits until all
// threads have stopped, which on a busy machine is some time after the signal.
func (p *Process) Pause() error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	for {
		err := unix.Waitid(unix.P_PID, p.PID, nil, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Resume continues a paused daemon.
func (p *Process) Resume() error { return p.signal(syscall.SIGCONT) }

func (p *Process) signal(s syscall.Signal) error {
	if p.Exited() != nil {
		return fmt.Errorf("%s (process %d) has ended", p.Name, p.PID)
	}
	if err := syscall.Kill(-p.PID, s); err != nil {
		return fmt.Errorf("sending %s to %s (process %d): %w", s, p.Name, p.PID, err)
	}
	return nil
}

// forker runs functions on one OS thread that lives as long as this program. Linux ties a
// parent-death signal to the thread that forked, not to the process, and Go ends threads at will.
var forker = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// Environment is this program's own with more, without what etcd and Ceph's programs would take for their options.
func Environment(more ...string) []string {
	return append(slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return strings.HasPrefix(entry, "CEPH_") || strings.HasPrefix(entry, "ETCD_")
	}), more...)
}

func startTied(cmd *exec.Cmd) error {
	if cmd.Env == nil {
		cmd.Env = Environment()
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid, cmd.SysProcAttr.Pdeathsig = true, syscall.SIGKILL
	started := make(chan error)
	forker() <- func() { started <- cmd.Start() }
	return <-started
}

// Output runs a short program to its end and returns what it printed on stdout. The error
// has what it printed on stderr. When ctx ends, the program and its children are killed.
func Output(ctx context.Context, path string, args ...string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := startTied(cmd); err != nil {
		return nil, fmt.Errorf("starting %s: %w", path, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer stop()
	if err := cmd.Wait(); err != nil {
		return stdout.Bytes(), fmt.Errorf("%s %q: %w: %s", filepath.Base(path), args, errors.Join(err, context.Cause(ctx)), bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.Bytes(), nil
}

// LastLines returns the last n lines of a log, or why it cannot be read.
func LastLines(file string, n int) []byte {
	content, err := os.ReadFile(file)
	if err != nil {
		return []byte(err.Error())
	}
	lines := bytes.Split(bytes.TrimRight(content, "\n"), []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-n):], []byte("\n"))
}
