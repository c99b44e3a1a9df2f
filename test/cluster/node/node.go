// Package node runs real nodes beside an embedded cluster's control plane: containerd, kubelet, kube-proxy
// and a DNS server in namespaces of their own. What needs root is done by a program of its own, nodehost.
package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/node/wire"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/programs"
)

const (
	// ClusterDNS is the address of the Service of the DNS servers.
	ClusterDNS    = "10.96.0.10"
	clusterDomain = "cluster.local"
	hostProgram   = "nodehost"
)

// Options say where and what to run; all are required.
type Options struct {
	// Dir is the folder of the cluster's state, in which the nodes have one; logs go to its subfolder logs.
	Dir   string
	Count int
	// Software is what all nodes run.
	Software wire.Software
	// Cleanup is told, before anything is there, the command that takes away what a killed owner leaves.
	Cleanup func(command ...string) error
}

// Nodes are those of one cluster. Its methods may be called at the same time.
type Nodes struct {
	options Options
	network wire.Network
	host    *exec.Cmd

	mu  sync.Mutex
	in  io.WriteCloser
	say *json.Encoder
	out *json.Decoder
	// credentials are by node.
	credentials map[string]wire.Credentials
}

// Connect gives the nodes-to-be a network, of which this machine is a part. The nodes end with this program,
// whichever way that ends.
func Connect(ctx context.Context, o Options) (*Nodes, error) {
	if err := Missing(); err != nil {
		return nil, err
	}
	program := filepath.Join(o.Dir, hostProgram)
	if err := programs.BuildOwn(ctx, "test/cluster/node/nodehost", program); err != nil {
		return nil, fmt.Errorf("building the program that runs nodes: %w", err)
	}
	if err := o.Cleanup(asRoot(program, "down", o.Dir)...); err != nil {
		return nil, err
	}
	n := &Nodes{options: o, credentials: map[string]wire.Credentials{}}
	if err := n.startHost(asRoot(program, "up", o.Dir, strconv.Itoa(o.Count))); err != nil {
		return nil, err
	}
	if err := n.receive(ctx, &n.network); err != nil {
		return nil, errors.Join(fmt.Errorf("network of the nodes: %w", err), n.Stop())
	}
	return n, nil
}

func (n *Nodes) startHost(command []string) error {
	log, err := os.OpenFile(n.logFile(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	n.host = exec.Command(command[0], command[1:]...)
	n.host.Stderr = log
	// A Ctrl-C is the owner's: the nodes end when it has closed its end of the pipe.
	n.host.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if n.in, err = n.host.StdinPipe(); err != nil {
		return err
	}
	out, err := n.host.StdoutPipe()
	if err != nil {
		return err
	}
	n.say, n.out = json.NewEncoder(n.in), json.NewDecoder(out)
	return n.host.Start()
}

func (n *Nodes) logFile() string { return filepath.Join(n.options.Dir, "logs", hostProgram+".log") }

// Address is this machine's, as the nodes and their pods see it.
func (n *Nodes) Address() string { return n.network.Gateway }

// Members are the nodes, running or not.
func (n *Nodes) Members() []wire.Member { return n.network.Members }

// Boot starts nodes for the first time, or again after Halt, and returns when their services run.
func (n *Nodes) Boot(ctx context.Context, names ...string) error {
	var r wire.Request
	n.mu.Lock()
	for _, name := range names {
		r.Boot = append(r.Boot, wire.Boot{Node: name, Software: n.options.Software, Credentials: n.credentials[name]})
	}
	n.mu.Unlock()
	if _, err := n.ask(ctx, r); err != nil {
		return fmt.Errorf("starting %v: %w", names, err)
	}
	return nil
}

// Halt is a node's loss of power.
func (n *Nodes) Halt(ctx context.Context, name string) error {
	_, err := n.ask(ctx, wire.Request{Halt: name})
	return err
}

// Unplug pulls a node's cable: it runs on, and reaches nobody.
func (n *Nodes) Unplug(ctx context.Context, name string) error {
	_, err := n.ask(ctx, wire.Request{Link: &wire.Link{Node: name}})
	return err
}

// Plug puts it back.
func (n *Nodes) Plug(ctx context.Context, name string) error {
	_, err := n.ask(ctx, wire.Request{Link: &wire.Link{Node: name, Up: true}})
	return err
}

// Run runs a command in a node, outside its pods, as root, and returns what it printed.
func (n *Nodes) Run(ctx context.Context, name string, command ...string) (string, error) {
	return n.ask(ctx, wire.Request{Run: &wire.Run{Node: name, Command: command}})
}

// Stop ends the nodes and returns when nothing is left of them but logs.
func (n *Nodes) Stop() error {
	_ = n.in.Close()
	if err := n.host.Wait(); err != nil {
		return fmt.Errorf("ending the nodes (see %s): %w", n.logFile(), err)
	}
	return nil
}

func (n *Nodes) ask(ctx context.Context, r wire.Request) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.say.Encode(r); err != nil {
		return "", fmt.Errorf("the program that runs the nodes is gone (see %s): %w", n.logFile(), err)
	}
	var a wire.Answer
	if err := n.receive(ctx, &a); err != nil {
		return "", err
	}
	if a.Error != "" {
		return a.Output, errors.New(a.Error)
	}
	return a.Output, nil
}

// receive waits for the next thing that the program says. When ctx ends first, nothing can be
// asked any more: the program is told to end.
func (n *Nodes) receive(ctx context.Context, into any) error {
	stop := context.AfterFunc(ctx, func() { _ = n.in.Close() })
	defer stop()
	if err := n.out.Decode(into); err != nil {
		return fmt.Errorf("the program that runs the nodes is gone (see %s): %w", n.logFile(), errors.Join(err, ctx.Err()))
	}
	return nil
}
