package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"syscall"
	"unsafe"
)

// chunk is how much is compared at a time.
const chunk = 64 << 10

// content is length bytes that seed decides.
func content(seed string, length int64) io.Reader {
	return io.LimitReader(rand.NewChaCha8(sha256.Sum256([]byte(seed))), length)
}

func write(path string, length int64, seed string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, bufio.NewReaderSize(content(seed, length), chunk))
	return errors.Join(err, file.Sync(), file.Close())
}

func verify(path string, length int64, seed string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	// The page cache would show what was written even when the volume has lost it.
	const dontNeed = 4
	_, _, _ = syscall.Syscall6(syscall.SYS_FADVISE64, file.Fd(), 0, 0, dontNeed, 0, 0)
	wanted := content(seed, length)
	want, got := make([]byte, chunk), make([]byte, chunk)
	for offset := int64(0); offset < length; offset += chunk {
		n := int(min(chunk, length-offset))
		if _, err := io.ReadFull(wanted, want[:n]); err != nil {
			return err
		}
		if _, err := io.ReadFull(file, got[:n]); err != nil {
			return fmt.Errorf("reading %s at %d: %w", path, offset, err)
		}
		if !bytes.Equal(want[:n], got[:n]) {
			return fmt.Errorf("%s differs from what was written between %d and %d", path, offset, offset+int64(n))
		}
	}
	return nil
}

// size is that of a block device, or of the filesystem of any other file.
func size(path string) (uint64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	if info.Mode()&os.ModeDevice == 0 {
		var fs syscall.Statfs_t
		err := syscall.Statfs(path, &fs)
		return fs.Blocks * uint64(fs.Bsize), err
	}
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	const blockGetSize64 = 0x80081272
	var bytes uint64
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, file.Fd(), blockGetSize64, uintptr(unsafe.Pointer(&bytes))); errno != 0 {
		return 0, fmt.Errorf("asking %s for its size: %w", path, errno)
	}
	return bytes, nil
}
