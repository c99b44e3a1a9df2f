package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
)

const (
	// leaveTimeout is what a session gets to end by itself when its owner is gone.
	leaveTimeout = 30 * time.Second
	lockEvery    = 50 * time.Millisecond
)

// down takes away what a session of the cluster's folder left behind. One that still runs has lost its owner
// and ends; one that does not is killed.
func down(ctx context.Context, cluster string) error {
	var r remains
	err := readJSON(remainsFile(cluster), &r)
	if errors.Is(err, fs.ErrNotExist) {
		return os.RemoveAll(nodesFolder(cluster))
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, leaveTimeout)
	defer cancel()
	lock, err := takeLock(ctx, cluster)
	if errors.Is(err, context.DeadlineExceeded) && r.alive(cluster) {
		_ = syscall.Kill(r.PID, syscall.SIGKILL)
		again, cancel := context.WithTimeout(context.Background(), leaveTimeout)
		defer cancel()
		lock, err = takeLock(again, cluster)
	}
	if errors.Is(err, fs.ErrNotExist) {
		// The session ended meanwhile and took everything away.
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	return errors.Join(r.remove(), os.RemoveAll(nodesFolder(cluster)))
}

// alive says whether the session's number is still its own.
func (r remains) alive(cluster string) bool {
	arguments, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", r.PID))
	return err == nil && strings.Contains(string(arguments), "\x00up\x00"+cluster+"\x00")
}

// takeLock waits until no session runs in the folder. The lock ends with the program.
func takeLock(ctx context.Context, cluster string) (*os.File, error) {
	lock, err := os.OpenFile(sessionLock(cluster), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return lock, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errors.Join(fmt.Errorf("locking %s: %w", sessionLock(cluster), err), lock.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), lock.Close())
		case <-time.After(lockEvery):
		}
	}
}
