package cephdaemons

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
)

//go:embed interpreter.py
var interpreterProgram string

// interpreter understands the arguments of `ceph` as that does, and costs a hundredth of it: it has started
// and connected before.
type interpreter struct {
	process  *process.Process
	commands io.WriteCloser
	pipe     io.Closer
	answers  *bufio.Reader
	// since is Ceph.forgotten of its start.
	since int
}

// errUnanswered is of a command that is for `ceph` itself.
var errUnanswered = errors.New("no answer")

// interpretTimeout is how long an answer may take. What has lost its session with a mon may look for another one
// for minutes, where `ceph`, which starts anew, finds one at once.
const interpretTimeout = 30 * time.Second

// interpret answers a command as `ceph` does, within so long a time.
func (c *Ceph) interpret(ctx context.Context, within time.Duration, arguments []string) ([]byte, error) {
	if c.python == "" || !plain(arguments) {
		return nil, errUnanswered
	}
	i, err := c.takeInterpreter()
	if err != nil {
		return nil, err
	}
	attempt, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	stop := context.AfterFunc(attempt, i.process.Kill)
	answer, err := i.ask(arguments)
	if !stop() || err != nil {
		i.end()
		return nil, errUnanswered
	}
	c.giveBack(i)
	if answer == nil {
		return nil, errUnanswered
	}
	if answer.Error != "" {
		return nil, fmt.Errorf("ceph %q: %s", arguments, answer.Error)
	}
	return []byte(answer.Text), nil
}

// plain says whether arguments are a command to one daemon, and its answer is all that is wanted.
func plain(arguments []string) bool {
	if len(arguments) == 0 || arguments[0] == "daemon" || strings.HasPrefix(arguments[0], "-") {
		return false
	}
	return !slices.ContainsFunc(arguments, func(argument string) bool {
		return slices.Contains([]string{"-i", "-o", "--in-file", "--out-file", "-f"}, argument) || strings.HasSuffix(argument, ".*")
	})
}

// pythonOf is the interpreter that an installed `ceph` names. That of an unpacked release needs more than a name.
func pythonOf(ceph string) string {
	file, err := os.Open(ceph)
	if err != nil {
		return ""
	}
	defer file.Close()
	line, err := bufio.NewReader(file).ReadString('\n')
	python, found := strings.CutPrefix(strings.TrimSpace(line), "#!")
	if python = strings.TrimSpace(python); err != nil || !found || !strings.Contains(python, "python") || strings.Contains(python, " ") {
		return ""
	}
	return python
}

type interpreted struct{ Text, Error string }

// ask returns nil for what is for `ceph` itself.
func (i *interpreter) ask(arguments []string) (*interpreted, error) {
	if err := json.NewEncoder(i.commands).Encode(arguments); err != nil {
		return nil, err
	}
	line, err := i.answers.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var answer *interpreted
	return answer, json.Unmarshal(line, &answer)
}

func (i *interpreter) end() {
	i.process.Kill()
	_ = errors.Join(i.commands.Close(), i.pipe.Close())
}

// takeInterpreter has one for this command alone.
func (c *Ceph) takeInterpreter() (*interpreter, error) {
	c.mu.Lock()
	if n := len(c.idle); n > 0 {
		i := c.idle[n-1]
		c.idle = c.idle[:n-1]
		c.mu.Unlock()
		return i, nil
	}
	since := c.forgotten
	c.mu.Unlock()
	return c.startInterpreter(since)
}

func (c *Ceph) giveBack(i *interpreter) {
	c.mu.Lock()
	current := i.since == c.forgotten
	if current {
		c.idle = append(c.idle, i)
	}
	c.mu.Unlock()
	if !current {
		i.end()
	}
}

// forgetInterpreters has the next commands go by the configuration of then, also where others are asked meanwhile.
func (c *Ceph) forgetInterpreters() {
	c.mu.Lock()
	idle := c.idle
	c.idle = nil
	c.forgotten++
	c.mu.Unlock()
	for _, i := range idle {
		i.end()
	}
}

func (c *Ceph) startInterpreter(since int) (*interpreter, error) {
	answers, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer write.Close()
	cmd := exec.Command(c.python, "-c", interpreterProgram, c.ConfFile(), c.KeyringFile())
	cmd.ExtraFiles = []*os.File{write}
	commands, err := cmd.StdinPipe()
	if err != nil {
		return nil, errors.Join(err, answers.Close())
	}
	p, err := c.options.Daemons.StartCommand("ceph-commands", cmd)
	if err != nil {
		return nil, errors.Join(err, answers.Close())
	}
	return &interpreter{process: p, commands: commands, pipe: answers, answers: bufio.NewReader(answers), since: since}, nil
}
