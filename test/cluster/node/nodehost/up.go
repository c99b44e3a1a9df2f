package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/node/wire"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
)

// bootTimeout is far above what a machine needs that runs other suites meanwhile: a minute where it is alone.
const bootTimeout = 10 * time.Minute

// session is the nodes of one cluster.
type session struct {
	cluster string
	network *network
	remains remains
	layout  wire.Network
	booted  map[string]*booted
}

// booted is a node that runs: the process that holds it, and its first one.
type booted struct {
	holder *exec.Cmd
	first  int
	// says has a line when all its services run.
	says    *bufio.Reader
	name    string
	logFile string
}

// up makes a network, says so, and does what it is asked to until its input ends. Then it takes everything away.
func up(cluster, count string) (err error) {
	nodes, err := strconv.Atoi(count)
	if err != nil || nodes < 1 || nodes > mostNodes {
		return fmt.Errorf("%s nodes: want 1 to %d", count, mostNodes)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	s := &session{cluster: cluster, booted: map[string]*booted{}}
	lock, err := s.open(ctx, nodes)
	if err != nil {
		return err
	}
	defer lock.Close()
	defer func() { err = errors.Join(err, s.close()) }()
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(s.layout); err != nil {
		return err
	}
	ctx, requests := read(ctx, os.Stdin)
	for {
		select {
		case <-ctx.Done():
			return nil
		case r := <-requests:
			answer := wire.Answer{}
			if answer.Output, err = s.serve(ctx, r); err != nil {
				answer.Error = err.Error()
			}
			if err := out.Encode(answer); err != nil {
				return nil
			}
		}
	}
}

// read hands on requests until in ends; ctx ends with it.
func read(ctx context.Context, in io.Reader) (context.Context, <-chan wire.Request) {
	ctx, cancel := context.WithCancel(ctx)
	requests := make(chan wire.Request)
	go func() {
		defer cancel()
		decoder := json.NewDecoder(in)
		for {
			var r wire.Request
			if decoder.Decode(&r) != nil {
				return
			}
			select {
			case requests <- r:
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, requests
}

func (s *session) open(ctx context.Context, nodes int) (*os.File, error) {
	if err := os.MkdirAll(nodesFolder(s.cluster), 0o755); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(sessionLock(s.cluster), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("the nodes of %s run already: %w", s.cluster, err), lock.Close())
	}
	if s.network, err = newNetwork(ctx); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	s.layout = s.network.describe(nodes)
	s.remains = remains{PID: os.Getpid(), Link: s.network.link}
	for _, member := range s.layout.Members {
		s.remains.Cgroups = append(s.remains.Cgroups, s.cgroup(member.Name))
	}
	if err := writeJSON(remainsFile(s.cluster), s.remains); err != nil {
		return nil, errors.Join(err, s.close(), lock.Close())
	}
	return lock, nil
}

// cgroup is a name that no other session has.
func (s *session) cgroup(node string) string {
	return fmt.Sprintf("%s-%d-%s", linkPrefix, os.Getpid(), node)
}

func (s *session) close() error {
	for name := range s.booted {
		s.halt(name)
	}
	s.network.remove()
	return errors.Join(s.remains.remove(), os.RemoveAll(nodesFolder(s.cluster)))
}

func (s *session) serve(ctx context.Context, r wire.Request) (string, error) {
	switch {
	case r.Boot != nil:
		ctx, cancel := context.WithTimeout(ctx, bootTimeout)
		defer cancel()
		return "", s.bootAll(ctx, r.Boot)
	case r.Halt != "":
		if s.booted[r.Halt] == nil {
			return "", fmt.Errorf("%s does not run", r.Halt)
		}
		s.halt(r.Halt)
		return "", s.network.removePort(ctx, r.Halt)
	case r.Link != nil:
		return "", s.network.setLink(ctx, *r.Link)
	case r.Run != nil:
		node := s.booted[r.Run.Node]
		if node == nil {
			return "", fmt.Errorf("%s does not run", r.Run.Node)
		}
		enter := []string{"--target", strconv.Itoa(node.first), "--mount", "--net", "--pid", "--uts", "--ipc", "--"}
		return output(ctx, "nsenter", append(enter, r.Run.Command...)...)
	}
	return "", errors.New("an empty request")
}

// halt ends a node at once, with everything that runs in it.
func (s *session) halt(name string) {
	node := s.booted[name]
	delete(s.booted, name)
	_ = syscall.Kill(node.first, syscall.SIGKILL)
	// The holder has waited for it.
	_ = node.holder.Wait()
}

func (s *session) bootAll(ctx context.Context, nodes []wire.Boot) error {
	for _, b := range nodes {
		if err := s.boot(ctx, b); err != nil {
			return err
		}
	}
	var errs []error
	for _, b := range nodes {
		errs = append(errs, s.booted[b.Node].await(ctx))
	}
	return errors.Join(errs...)
}

func (s *session) boot(ctx context.Context, b wire.Boot) error {
	var self *wire.Member
	for i, member := range s.layout.Members {
		if member.Name == b.Node {
			self = &s.layout.Members[i]
		}
	}
	if self == nil || s.booted[b.Node] != nil {
		return fmt.Errorf("%s is no node, or runs", b.Node)
	}
	n := wire.Node{
		Member: *self, Network: s.layout, Software: b.Software, Credentials: b.Credentials,
		Cluster: s.cluster, Logs: logsFolder(s.cluster), Dir: nodeFolder(s.cluster, b.Node), Cgroup: s.cgroup(b.Node),
	}
	if err := errors.Join(os.MkdirAll(n.Dir, 0o755), removeCgroups(n.Cgroup), makeCgroups(n.Cgroup)); err != nil {
		return err
	}
	if err := writeJSON(nodeFile(s.cluster, b.Node), n); err != nil {
		return err
	}
	return s.start(ctx, n)
}

func (s *session) start(ctx context.Context, n wire.Node) error {
	logFile := filepath.Join(n.Logs, n.Member.Name+".log")
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	holder := exec.Command("/proc/self/exe", "enter", nodeFile(s.cluster, n.Member.Name))
	holder.Stderr = log
	holder.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	in, err := holder.StdinPipe()
	if err != nil {
		return err
	}
	out, err := holder.StdoutPipe()
	if err != nil {
		return err
	}
	if err := holder.Start(); err != nil {
		return err
	}
	says := bufio.NewReader(out)
	first, err := number(says)
	if err != nil {
		_ = holder.Process.Kill()
		_ = holder.Wait()
		return fmt.Errorf("starting %s (see %s): %w", n.Member.Name, logFile, err)
	}
	s.booted[n.Member.Name] = &booted{holder: holder, first: first, says: says, name: n.Member.Name, logFile: logFile}
	if err := s.network.plug(ctx, first, n.Member, s.layout.Members); err != nil {
		return err
	}
	_, err = io.WriteString(in, "\n")
	return err
}

// await returns when the node says that all its services run.
func (b *booted) await(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = syscall.Kill(b.first, syscall.SIGKILL) })
	defer stop()
	if _, err := b.says.ReadString('\n'); err != nil {
		return fmt.Errorf("%s does not start: %w; end of %s:\n%s", b.name, errors.Join(err, ctx.Err()), b.logFile, process.LastLines(b.logFile, 5))
	}
	return nil
}

func number(from *bufio.Reader) (int, error) {
	line, err := from.ReadString('\n')
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(line))
}
