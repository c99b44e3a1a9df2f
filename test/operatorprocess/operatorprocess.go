// Package operatorprocess runs containers, mostly the operators', as processes of this machine, the
// way a kubelet runs them: each with the program of its image, and with arguments, environment,
// mounted files and user of its pod, which are those of the manifests, or of whoever has edited them.
// Nothing is added to them. What a pod shares with nobody, several pods share here: the network, in
// which the kernel gives each another port than the one that it binds; see package box.
//
// Where the machine allows no root file system of their own to processes, there is no place for
// mounted files: see outside for what is then replaced.
package operatorprocess

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess/box"
)

const (
	// stopLimit is how long an operator may take to end after SIGTERM. A pod gets 30 seconds.
	stopLimit = 30 * time.Second
	// mountLimit is how long what a pod mounts may take to come; it is looked for each mountInterval.
	mountLimit    = time.Minute
	mountInterval = 50 * time.Millisecond
)

// Config says what to run. All is required but what says otherwise.
type Config struct {
	// Pod need not exist in the cluster.
	Pod *corev1.Pod
	// Binary is the path of the program of an operator's only container; see Binary.
	Binary string
	// Node is the folder that has what the pod mounts of its node; only pods that do so need one.
	Node string
	// Client reads what the pod mounts and asks for its ServiceAccount's token.
	Client kubernetes.Interface
	// APIServer is the URL of the API server that the pod finds in its environment.
	APIServer string
	// Dir is made; it gets the log and what the pod mounts.
	Dir string
}

// Process is the container of one pod. It may be killed, stopped and started again.
type Process struct {
	name  string
	dir   string
	plan  box.Plan
	ports *box.Ports
	port  int
	group *process.Group
	// tokens are those of its pod.
	tokens *tokens

	mu      sync.Mutex
	current *process.Process
}

// Start returns when the process runs, which does not mean that it acts yet. As a kubelet does, it
// waits for what the pod mounts. The files stay as they are then, but for tokens, which are renewed.
func Start(ctx context.Context, config Config) (*Process, error) {
	var out *Process
	var missing error
	err := wait.PollUntilContextTimeout(ctx, mountInterval, mountLimit, true, func(ctx context.Context) (bool, error) {
		var err error
		if out, err = start(ctx, config); apierrors.IsNotFound(err) {
			missing = err
			return false, nil
		}
		return err == nil, err
	})
	if wait.Interrupted(err) {
		err = errors.Join(missing, err)
	}
	return out, err
}

// start does not wait.
func start(ctx context.Context, config Config) (*Process, error) {
	if n := len(config.Pod.Spec.Containers); n != 1 {
		return nil, fmt.Errorf("pod %s: an operator's has one container, not %d", config.Pod.Name, n)
	}
	image, err := readImage()
	if err != nil {
		return nil, err
	}
	image.File = config.Binary
	all, err := StartContainers(ctx, config, func(string) (Program, error) { return image, nil })
	if err != nil {
		return nil, err
	}
	return all[config.Pod.Spec.Containers[0].Name], nil
}

// StartContainers starts all containers of a pod with the programs of their images, and returns them
// by their names. They share the pod's volumes, but for those in memory, and its ports. Nothing runs
// when it fails.
func StartContainers(ctx context.Context, config Config, program func(image string) (Program, error)) (map[string]*Process, error) {
	if err := os.MkdirAll(config.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("folder of pod %s: %w", config.Pod.Name, err)
	}
	containers, err := containersOf(config.Pod, config.APIServer)
	if err != nil {
		return nil, err
	}
	volumes, err := config.volumes(ctx)
	if err != nil {
		return nil, err
	}
	ports, tokens, out := &box.Ports{}, newTokens(config, volumes), map[string]*Process{}
	for i, c := range containers {
		p := &Process{name: c.name, dir: config.Dir, ports: ports, tokens: tokens, group: process.NewGroup(config.Dir, func(process.Record) error { return nil })}
		out[c.name] = p
		image, err := program(config.Pod.Spec.Containers[i].Image)
		if err != nil {
			return nil, fmt.Errorf("container %s of pod %s: %w", c.name, config.Pod.Name, err)
		}
		if p.plan, err = c.plan(config, image, volumes); err != nil {
			return nil, err
		}
		if c.port == 0 {
			continue
		}
		if p.port, err = ports.Of(c.port); err != nil {
			return nil, fmt.Errorf("a port for pod %s: %w", config.Pod.Name, err)
		}
	}
	for _, p := range out {
		if err := p.Restart(); err != nil {
			killAll(out)
			return nil, err
		}
	}
	return out, nil
}

func killAll(containers map[string]*Process) {
	for _, p := range containers {
		if p.current != nil {
			p.Kill()
		}
	}
}

// Restart starts the container again after Kill, Stop or its own end. Log, files, ports and the
// pod's name stay.
func (p *Process) Restart() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current != nil && p.current.Exited() == nil {
		return fmt.Errorf("%s runs already (process %d)", p.current.Name, p.current.PID)
	}
	_, _ = p.tokens.renew(context.Background()) // It starts with an old one where that fails, as in a kubelet's pod.
	return box.Start(p.plan, p.ports, func(cmd *exec.Cmd) error {
		current, err := p.group.StartCommand(p.name, cmd)
		if err == nil {
			p.current = current
			go p.tokens.keep(current.Done())
		}
		return err
	})
}

// Kill ends the operator at once, as a lost node would.
func (p *Process) Kill() { p.running().Kill() }

// Stop ends the operator as the kubelet does, and waits for its end.
func (p *Process) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	return p.running().Stop(ctx)
}

// Dump ends the operator with the stacks of all its goroutines in its log.
func (p *Process) Dump(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	return p.running().Dump(ctx)
}

// Exited is nil while the operator runs; afterwards it says how it ended and shows its last lines.
func (p *Process) Exited() error { return p.running().Exited() }

// Done is closed when the operator that was started last has ended.
func (p *Process) Done() <-chan struct{} { return p.running().Done() }

// PID is the process number of the operator that was started last.
func (p *Process) PID() int { return p.running().PID }

// Address is where this machine has the first port that the container declares: where an operator
// serves its metrics, with TLS, to those who may read them.
func (p *Process) Address() string { return loopback(p.port) }

// At is where a program finds what its pod serves at a port.
func (p *Process) At(port int) (string, error) {
	given, err := p.ports.Of(port)
	return loopback(given), err
}

func loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// Outside is where this machine has a path of the container's, which must be in a volume that is not in
// memory.
func (p *Process) Outside(path string) (string, error) {
	for _, m := range slices.Backward(p.plan.Mounts) {
		if rest, below := strings.CutPrefix(path, m.Target+"/"); below && m.Source != "" {
			return filepath.Join(m.Source, rest), nil
		}
	}
	return "", fmt.Errorf("%s mounts nothing at %s", p.name, path)
}

// LogFile has what all starts printed.
func (p *Process) LogFile() string { return filepath.Join(p.dir, p.name+".log") }

func (p *Process) running() *process.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current
}
