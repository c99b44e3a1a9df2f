// Package operatorprocess runs the operator of one driver as a process of this machine, the
// way its Deployment would: with the images, names and arguments that a pod gets.
package operatorprocess

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
)

// stopLimit is how long an operator may take to end after SIGTERM. A pod gets 30 seconds.
const stopLimit = 30 * time.Second

// Config says what to run. Binary, Kubeconfig and Dir are required, and Driver or what OfPod
// gives.
type Config struct {
	// Binary is the path of the operator; see Binary.
	Binary string
	Driver driver.Driver
	// Name, Arguments and Variables replace those that the driver's operator has.
	Name      string
	Arguments []string
	Variables map[string]string
	// Serving is the content of the --config file, but for address and certificate.
	Serving map[string]any
	// Kubeconfig is that of the operator's ServiceAccount.
	Kubeconfig string
	// Dir is made; it gets the log, the --config file and the process's temporary files.
	Dir string
	// Env replaces variables of Environment; an empty value leaves the variable out.
	Env map[string]string
}

// Process is the operator of one driver. It may be killed, stopped and started again.
type Process struct {
	config  Config
	address string
	group   *process.Group

	mu      sync.Mutex
	current *process.Process
}

// Start returns when the process runs, which does not mean that it acts yet.
func Start(config Config) (*Process, error) {
	if config.Name == "" {
		config.Name = config.Driver.OperatorName()
	}
	if err := os.MkdirAll(filepath.Join(config.Dir, temporary), 0o700); err != nil {
		return nil, fmt.Errorf("folder of %s: %w", config.Name, err)
	}
	address, err := writeServingConfig(config.Dir, config.Serving)
	if err != nil {
		return nil, err
	}
	p := &Process{
		config: config, address: address,
		group: process.NewGroup(config.Dir, func(process.Record) error { return nil }),
	}
	return p, p.Restart()
}

// Restart starts the operator again after Kill, Stop or its own end. Log and identity stay.
func (p *Process) Restart() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current != nil && p.current.Exited() == nil {
		return fmt.Errorf("%s runs already (process %d)", p.current.Name, p.current.PID)
	}
	current, err := p.group.StartWith(p.config.environment(), p.config.Name, p.config.Binary, p.config.arguments()...)
	if err != nil {
		return err
	}
	p.current = current
	return nil
}

// Kill ends the operator at once, as a lost node would.
func (p *Process) Kill() { p.running().Kill() }

// Stop ends the operator as the kubelet does, and waits for its end.
func (p *Process) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	return p.running().Stop(ctx)
}

// Exited is nil while the operator runs; afterwards it says how it ended and shows its last lines.
func (p *Process) Exited() error { return p.running().Exited() }

// Done is closed when the operator that was started last has ended.
func (p *Process) Done() <-chan struct{} { return p.running().Done() }

// PID is the process number of the operator that was started last.
func (p *Process) PID() int { return p.running().PID }

// Address is where the operator serves its metrics, with TLS, to those who may read them.
func (p *Process) Address() string { return p.address }

// LogFile has what all starts printed.
func (p *Process) LogFile() string {
	return filepath.Join(p.config.Dir, p.config.Name+".log")
}

func (p *Process) running() *process.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current
}

func (c Config) arguments() []string {
	here := []string{"--kubeconfig=" + c.Kubeconfig, "--config=" + filepath.Join(c.Dir, servingConfig), "--namespace=" + driver.Namespace}
	if c.Arguments != nil {
		return append(slices.Clone(c.Arguments), here...)
	}
	return slices.Concat([]string{"start", "--driver=" + c.Driver.Kind}, here, []string{"-v=2"})
}

// environment is everything that the process sees: nothing of the caller's own leaks in.
func (c Config) environment() []string {
	variables := maps.Clone(c.Variables)
	if variables == nil {
		variables = Environment(c.Driver)
	}
	// Serving certificates that library-go generates stay there after SIGKILL.
	variables["TMPDIR"] = filepath.Join(c.Dir, temporary)
	for name, value := range c.Env {
		variables[name] = value
	}
	var out []string
	for name, value := range variables {
		if value != "" {
			out = append(out, strings.Join([]string{name, value}, "="))
		}
	}
	return out
}
