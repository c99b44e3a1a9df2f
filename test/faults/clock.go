package faults

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// preloadClock is what makes a program's clock wrong.
//
//go:embed preload/clock.c
var preloadClock []byte

const clockFile = "clock"

// Jump has the clock of the program, and of its libraries, be wrong by so many seconds from then on; 0 is right.
func (c *Calls) Jump(by time.Duration) error {
	// The program has the file mapped: it must not get shorter.
	file, err := os.OpenFile(filepath.Join(c.dir, clockFile), os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("clock of a program: %w", err)
	}
	if err := binary.Write(file, binary.NativeEndian, int64(by/time.Second)); err != nil {
		_ = file.Close()
		return fmt.Errorf("clock of a program: %w", err)
	}
	return file.Close()
}
