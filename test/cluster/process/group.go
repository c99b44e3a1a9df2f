package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
)

// Group is the daemons of one cluster.
type Group struct {
	logs    string
	started func(Record) error

	mu        sync.Mutex
	processes []*Process
}

// NewGroup has the daemons log to <logs>/<name>.log. Each started one is told to started, whose
// error ends it again: what is not recorded must not run.
func NewGroup(logs string, started func(Record) error) *Group {
	return &Group{logs: logs, started: started}
}

// Start starts a daemon. A second start of the same name appends to the same log.
func (g *Group) Start(name, path string, args ...string) (*Process, error) {
	return g.StartCommand(name, exec.Command(path, args...))
}

// StartCommand starts a command that has no output yet. Without an environment it gets
// Environment without more.
func (g *Group) StartCommand(name string, cmd *exec.Cmd) (*Process, error) {
	logFile := filepath.Join(g.logs, name+".log")
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("log of %s: %w", name, err)
	}
	defer log.Close()

	cmd.Stdout, cmd.Stderr = log, log
	if err := startTied(cmd); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	p := &Process{logFile: logFile, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	if p.Record, err = recordOf(name, cmd.Process.Pid); err != nil {
		p.Kill()
		return nil, p.Exited()
	}
	if err := g.started(p.Record); err != nil {
		p.Kill()
		return nil, fmt.Errorf("recording %s: %w", name, err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.processes = append(g.processes, p)
	return p, nil
}

// Running are the daemons that have not ended, in the order of their start.
func (g *Group) Running() []*Process {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(g.processes), func(p *Process) bool { return p.Exited() != nil })
}

// Kill ends all daemons, the last started one first: a kube-apiserver that loses its etcd
// before its own end would hang.
func (g *Group) Kill() {
	for _, p := range slices.Backward(g.Running()) {
		p.Kill()
	}
}
