package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// restTime is when the memory of a process is read, counted from its start.
const restTime = 20 * time.Second

// clockTick is the unit of CPU times in /proc; Linux shows users nothing else.
const clockTick = 10 * time.Millisecond

// memory of a process, in bytes.
type memory struct{ privateBytes, fileBytes, peakBytes float64 }

func (m memory) private() float64 { return m.privateBytes / 1e6 }
func (m memory) file() float64    { return m.fileBytes / 1e6 }
func (m memory) peak() float64    { return m.peakBytes / 1e6 }

func memoryOf(pid int) (memory, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return memory{}, err
	}
	return parseMemory(string(content))
}

// parseMemory reads the text of /proc/PID/status.
func parseMemory(status string) (memory, error) {
	values := map[string]float64{}
	for text := range strings.Lines(status) {
		name, rest, _ := strings.Cut(text, ":")
		fields := strings.Fields(rest)
		if len(fields) != 2 || fields[1] != "kB" {
			continue
		}
		if kibibytes, err := strconv.ParseFloat(fields[0], 64); err == nil {
			values[name] = kibibytes * 1024
		}
	}
	m := memory{privateBytes: values["RssAnon"], fileBytes: values["RssFile"], peakBytes: values["VmHWM"]}
	if m.privateBytes == 0 || m.peakBytes == 0 {
		return m, fmt.Errorf("no RssAnon or no VmHWM in %q", status)
	}
	return m, nil
}

// cpuTime is how long a process has had a CPU.
func cpuTime(pid int) (time.Duration, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	return parseCPUTime(string(content))
}

// parseCPUTime reads the text of /proc/PID/stat: user and system time of all threads.
func parseCPUTime(stat string) (time.Duration, error) {
	// The second field is the program's name, which may have spaces.
	fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:])
	const user, system = 11, 12
	if len(fields) <= system {
		return 0, fmt.Errorf("too few fields in %q", stat)
	}
	var sum time.Duration
	for _, field := range []string{fields[user], fields[system]} {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("CPU time in %q: %w", stat, err)
		}
		sum += time.Duration(ticks) * clockTick
	}
	return sum, nil
}

// small measures the memory of an operator that has little to know.
func (b *bench) small(figure func(memory) float64) func(context.Context, driver.Driver) (float64, error) {
	return func(ctx context.Context, d driver.Driver) (float64, error) {
		m, err := b.memoryAfterStart(ctx, d, "small")
		return figure(m), err
	}
}

// crowded measures the memory of an operator on a cluster with thousands of objects.
func (b *bench) crowded(figure func(memory) float64) func(context.Context, driver.Driver) (float64, error) {
	return func(ctx context.Context, d driver.Driver) (float64, error) {
		if err := b.fill(ctx); err != nil {
			return 0, err
		}
		m, err := b.memoryAfterStart(ctx, d, "large")
		return figure(m), err
	}
}

// memoryAfterStart starts the operator of a deployed driver again, once for each kind of
// cluster, and lets it come to rest.
func (b *bench) memoryAfterStart(ctx context.Context, d driver.Driver, cluster string) (memory, error) {
	key := cluster + " " + d.Name
	if m, known := b.memories[key]; known {
		return m, nil
	}
	if err := b.deployed(ctx); err != nil {
		return memory{}, err
	}
	if err := b.stopOperator(ctx, d); err != nil {
		return memory{}, err
	}
	begin, err := b.startOperator(ctx, d)
	if err != nil {
		return memory{}, err
	}
	if err := b.settled(ctx, d); err != nil {
		return memory{}, err
	}
	select {
	case <-ctx.Done():
		return memory{}, ctx.Err()
	case <-time.After(time.Until(begin.Add(restTime))):
	}
	m, err := memoryOf(b.operators[d.Name].PID())
	if err != nil {
		return m, err
	}
	b.memories[key] = m
	return m, nil
}
