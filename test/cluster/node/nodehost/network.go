package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/node/wire"
)

// The nodes and pods of all clusters of a machine have addresses of the range for benchmarks of
// network devices (RFC 2544), which no network outside routes. A cluster's number is the third byte.
const (
	nodesRange  = "198.18"
	podsRange   = "198.19"
	mostNumbers = 250
	mostNodes   = 4
	linkPrefix  = "cephcsi"
	toolTimeout = 20 * time.Second
)

// network is a switch in a namespace of its own and this machine's link to it. Both end with the switch.
type network struct {
	number   int
	link     string
	switchOf *exec.Cmd
}

// newNetwork takes the first number that is free. The link's name is the claim to it: the kernel
// lets only one be made.
func newNetwork(ctx context.Context) (*network, error) {
	holder, err := startHolder()
	if err != nil {
		return nil, err
	}
	n := &network{switchOf: holder}
	for number := 1; number <= mostNumbers; number++ {
		link := linkPrefix + strconv.Itoa(number)
		if addressTaken(number) {
			continue
		}
		err = tool(ctx, "ip", "link", "add", link, "type", "veth", "peer", "name", "uplink", "netns", strconv.Itoa(holder.Process.Pid))
		if err == nil {
			n.number, n.link = number, link
			return n, n.configure(ctx)
		}
		if _, exists := net.InterfaceByName(link); exists != nil {
			break
		}
	}
	n.remove()
	return nil, fmt.Errorf("no network for the nodes: %w", errors.Join(err, errors.New("is the kernel's module veth there?")))
}

// startHolder starts a process that does nothing in a network namespace of its own.
func startHolder() (*exec.Cmd, error) {
	holder := exec.Command("sleep", "infinity")
	holder.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL, Setpgid: true}
	return holder, holder.Start()
}

func (n *network) configure(ctx context.Context) error {
	pid := n.switchOf.Process.Pid
	return errors.Join(
		tool(ctx, "ip", "addr", "add", n.gateway()+"/24", "dev", n.link),
		tool(ctx, "ip", "link", "set", n.link, "up"),
		inNetwork(ctx, pid, "link", "add", "switch", "type", "bridge"),
		inNetwork(ctx, pid, "link", "set", "uplink", "master", "switch"),
		inNetwork(ctx, pid, "link", "set", "uplink", "up"),
		inNetwork(ctx, pid, "link", "set", "switch", "up"),
	)
}

func (n *network) gateway() string { return fmt.Sprintf("%s.%d.1", nodesRange, n.number) }

func (n *network) describe(count int) wire.Network {
	described := wire.Network{Gateway: n.gateway(), Pods: fmt.Sprintf("%s.%d.0/24", podsRange, n.number)}
	for i := range count {
		described.Members = append(described.Members, wire.Member{
			Name:    fmt.Sprintf("node-%d", i),
			Address: fmt.Sprintf("%s.%d.%d", nodesRange, n.number, 2+i),
			Pods:    fmt.Sprintf("%s.%d.%d/26", podsRange, n.number, 256/mostNodes*i),
		})
	}
	return described
}

// plug gives the network namespace of a process the address of a member, and everybody the way to its pods.
func (n *network) plug(ctx context.Context, pid int, self wire.Member, all []wire.Member) error {
	port := portOf(self.Name)
	err := errors.Join(
		inNetwork(ctx, n.switchOf.Process.Pid, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", strconv.Itoa(pid)),
		inNetwork(ctx, n.switchOf.Process.Pid, "link", "set", port, "master", "switch", "up"),
		inNetwork(ctx, pid, "link", "set", "lo", "up"),
		inNetwork(ctx, pid, "addr", "add", self.Address+"/24", "dev", "eth0"),
		inNetwork(ctx, pid, "link", "set", "eth0", "up"),
		inNetwork(ctx, pid, "route", "add", "default", "via", n.gateway()),
		tool(ctx, "ip", "route", "replace", self.Pods, "via", self.Address, "dev", n.link),
	)
	for _, other := range all {
		if other.Name != self.Name {
			err = errors.Join(err, inNetwork(ctx, pid, "route", "add", other.Pods, "via", other.Address))
		}
	}
	return err
}

// portOf is the switch's end of a node's cable.
func portOf(node string) string { return "to-" + node }

// setLink lets packets through a node's cable, or none.
func (n *network) setLink(ctx context.Context, l wire.Link) error {
	state := "down"
	if l.Up {
		state = "up"
	}
	return inNetwork(ctx, n.switchOf.Process.Pid, "link", "set", portOf(l.Node), state)
}

// removePort waits until the port of a halted node is gone, which the kernel takes away in the background.
func (n *network) removePort(ctx context.Context, name string) error {
	err := inNetwork(ctx, n.switchOf.Process.Pid, "link", "del", portOf(name))
	if err != nil && !strings.Contains(err.Error(), "Cannot find device") {
		return err
	}
	return nil
}

// remove takes the link away, and with the switch's process the rest.
func (n *network) remove() {
	if n.link != "" {
		ctx, cancel := context.WithTimeout(context.Background(), toolTimeout)
		defer cancel()
		_ = tool(ctx, "ip", "link", "del", n.link)
	}
	_ = n.switchOf.Process.Kill()
	_ = n.switchOf.Wait()
}

// addressTaken says whether this machine has an address in the range of the number's nodes.
func addressTaken(number int) bool {
	addresses, err := net.InterfaceAddrs()
	for _, a := range addresses {
		if strings.HasPrefix(a.String(), fmt.Sprintf("%s.%d.", nodesRange, number)) {
			return true
		}
	}
	return err != nil
}

func inNetwork(ctx context.Context, pid int, arguments ...string) error {
	return tool(ctx, "nsenter", append([]string{"--target", strconv.Itoa(pid), "--net", "ip"}, arguments...)...)
}

func tool(ctx context.Context, program string, arguments ...string) error {
	_, err := output(ctx, program, arguments...)
	return err
}

func output(ctx context.Context, program string, arguments ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, toolTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, arguments...).CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("%s %q: %w: %s", program, arguments, err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}
