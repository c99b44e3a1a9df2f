package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/node/wire"
)

const (
	containerdSocket = "/run/containerd/containerd.sock"
	// restartAfter is how long a service that ended rests, as one of a distribution does.
	restartAfter = time.Second
	// importTimeout is for one image.
	importTimeout = 2 * time.Minute
	socketTimeout = 30 * time.Second
)

// run starts a node's services, prints a line when all run, and keeps them running.
func run(file string) error {
	var n wire.Node
	if err := readJSON(file, &n); err != nil {
		return err
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644); err != nil {
		return err
	}
	if err := errors.Join(writeConfigurations(n), listenAsKernel()); err != nil {
		return err
	}
	go keep(n, "containerd", "containerd", "--config", configFile(n, "containerd.toml"))
	if err := importImages(n); err != nil {
		return err
	}
	go keep(n, "kube-proxy", n.Software.KubeProxy, "--config", configFile(n, "kube-proxy.yaml"))
	go keep(n, "dns", n.Software.DNS, "-conf", configFile(n, "Corefile"))
	go keep(n, "kubelet", n.Software.Kubelet,
		"--config", configFile(n, "kubelet.yaml"), "--kubeconfig", n.Credentials.Kubelet,
		"--hostname-override", n.Member.Name, "--node-ip", n.Member.Address)
	fmt.Println("started")
	select {}
}

// keep runs a service for ever.
func keep(n wire.Node, name, program string, arguments ...string) {
	for {
		err := serve(n, name, program, arguments...)
		fmt.Fprintf(os.Stderr, "%s %s ended: %v\n", time.Now().Format(time.TimeOnly), name, err)
		<-time.After(restartAfter)
	}
}

func serve(n wire.Node, name, program string, arguments ...string) error {
	log, err := os.OpenFile(filepath.Join(n.Logs, n.Member.Name+"-"+name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	service := exec.Command(program, arguments...)
	service.Stdout, service.Stderr = log, log
	return service.Run()
}

// importImages gives containerd the images that it does not have from an earlier start.
func importImages(n wire.Node) error {
	if err := waitContainerd(); err != nil {
		return err
	}
	done := filepath.Join(n.Dir, "imported")
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	for _, image := range n.Software.Images {
		if err := importImage(image.File); err != nil {
			return fmt.Errorf("importing %s from %s: %w", image.Name, image.File, err)
		}
	}
	return os.WriteFile(done, nil, 0o644)
}

func importImage(file string) error {
	ctx, cancel := context.WithTimeout(context.Background(), importTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, "ctr", "--namespace", "k8s.io", "images", "import", file).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", errors.Join(err, ctx.Err()), out)
	}
	return nil
}

func waitContainerd() error {
	ctx, cancel := context.WithTimeout(context.Background(), socketTimeout)
	defer cancel()
	for {
		out, err := exec.CommandContext(ctx, "ctr", "version").CombinedOutput()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("containerd does not answer: %w: %s", err, out), ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}
