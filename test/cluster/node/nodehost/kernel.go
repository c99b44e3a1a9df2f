package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/node/wire"
)

// listenAsKernel stands in for the kernel's clients of Ceph, which go on when the pod ends that has mounted: it runs
// programs among the node's processes, with the files of the container that asks.
func listenAsKernel() error {
	if err := os.MkdirAll(filepath.Dir(wire.KernelSocket), 0o755); err != nil {
		return err
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: wire.KernelSocket, Net: "unix"})
	if err != nil {
		return fmt.Errorf("listening for pods that mount: %w", err)
	}
	go func() {
		for {
			asks, err := listener.AcceptUnix()
			if err != nil {
				fmt.Fprintln(os.Stderr, "Error: listening for pods that mount:", err)
				return
			}
			go answer(asks)
		}
	}()
	return nil
}

// answer runs the program that comes as a list of arguments.
func answer(asks *net.UnixConn) {
	defer asks.Close()
	var out wire.Started
	var arguments []string
	pid, err := peer(asks)
	if err := errors.Join(err, json.NewDecoder(asks).Decode(&arguments)); err != nil {
		out.Error = err.Error()
	} else if out.Output, err = runWithFilesOf(untilGone(asks), pid, arguments); err != nil {
		out.Error = err.Error()
	}
	_ = json.NewEncoder(asks).Encode(out) // Who asked may have ended.
}

// untilGone ends when who asks waits no longer.
func untilGone(asks *net.UnixConn) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, asks) // What the end of the list may have left.
	}()
	return ctx
}

func runWithFilesOf(ctx context.Context, pid int32, arguments []string) (string, error) {
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(ctx, "nsenter", append([]string{"--target", strconv.Itoa(int(pid)), "--mount", "--"}, arguments...)...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = 10 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("an error (%w) occurred while running %s, stderr: %s", err, arguments[0], strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}

// peer is the process at a connection's other end, by its number among the node's.
func peer(c *net.UnixConn) (int32, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var credentials *syscall.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		credentials, credErr = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err := errors.Join(err, credErr); err != nil {
		return 0, fmt.Errorf("who asks: %w", err)
	}
	return credentials.Pid, nil
}
