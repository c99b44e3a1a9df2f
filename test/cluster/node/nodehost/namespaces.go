package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/node/wire"
)

const (
	cloneNewCgroup = 0x02000000
	namespaces     = syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS | cloneNewCgroup
)

// enter moves itself to the node's cgroups, so that they are the roots of the node's cgroup namespace,
// and starts its first process there. It prints that one's number and lives as long.
func enter(file string) error {
	var n wire.Node
	if err := readJSON(file, &n); err != nil {
		return err
	}
	if err := joinCgroups(n.Cgroup); err != nil {
		return err
	}
	first := exec.Command("/proc/self/exe", "init", file)
	first.Stdin, first.Stdout, first.Stderr = os.Stdin, os.Stdout, os.Stderr
	first.SysProcAttr = &syscall.SysProcAttr{Cloneflags: namespaces, Pdeathsig: syscall.SIGKILL}
	if err := first.Start(); err != nil {
		return fmt.Errorf("namespaces of %s: %w", n.Member.Name, err)
	}
	fmt.Println(first.Process.Pid)
	return first.Wait()
}

// initNode is a node's process 1: it prepares files and name, waits for a line that says that
// the network is there, starts what runs the rest, and reaps whom nobody else does.
func initNode(file string) error {
	var n wire.Node
	if err := readJSON(file, &n); err != nil {
		return err
	}
	trees, err := hierarchies()
	if err != nil {
		return err
	}
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	if err := errors.Join(syscall.Sethostname([]byte(n.Member.Name)), buildRoot(n, trees)); err != nil {
		return err
	}
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return fmt.Errorf("waiting for the network: %w", err)
	}
	runner := exec.Command(executable, "run", file)
	runner.Stdout, runner.Stderr = os.Stdout, os.Stderr
	runner.Env = nodeEnvironment()
	if err := runner.Start(); err != nil {
		return err
	}
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: waiting for its processes: %w", n.Member.Name, err)
		}
		if pid == runner.Process.Pid {
			return fmt.Errorf("%s ends with status %d", n.Member.Name, status.ExitStatus())
		}
	}
}

// nodeEnvironment is a service's on any distribution: nothing of the one who started the cluster.
func nodeEnvironment() []string {
	return []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8"}
}
