package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// resources are what a process that rests holds.
type resources struct {
	memory
	goroutines, files float64
}

// loadRest is how long operators rest before what they hold is read: Go collects what nobody uses each two minutes,
// and then gives back the memory bit by bit.
const loadRest = 150 * time.Second

// cycle is how often a process that rests gives memory back: what it holds in between is the mean of it.
const cycle = time.Minute

// rested waits until the operators have nothing to do, and then until what they do not need any more is given back.
func (b *bench) rested(ctx context.Context) (map[string]resources, error) {
	for _, d := range driver.All {
		if err := b.settled(ctx, d); err != nil {
			return nil, err
		}
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(loadRest):
	}
	out := map[string]resources{}
	for _, d := range driver.All {
		var err error
		if out[d.Name], err = b.resources(ctx, d); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (b *bench) resources(ctx context.Context, d driver.Driver) (resources, error) {
	p := b.operators[d.Name]
	m, err := meanMemory(ctx, p.PID())
	if err != nil {
		return resources{}, err
	}
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.PID()))
	if err != nil {
		return resources{}, err
	}
	metrics, err := b.scrape(ctx, p.Address())
	if err != nil {
		return resources{}, fmt.Errorf("metrics of %s: %w", d.OperatorName(), err)
	}
	goroutines, err := gauge(metrics, "go_goroutines")
	return resources{m, goroutines, float64(len(files))}, err
}

// meanMemory of a cycle.
func meanMemory(ctx context.Context, pid int) (memory, error) {
	var sum memory
	begin, samples := time.Now(), 0.0
	for ; time.Since(begin) < cycle; samples++ {
		m, err := memoryOf(pid)
		if err != nil {
			return memory{}, err
		}
		sum = memory{sum.privateBytes + m.privateBytes, sum.fileBytes + m.fileBytes, sum.peakBytes + m.peakBytes}
		select {
		case <-ctx.Done():
			return memory{}, ctx.Err()
		case <-time.After(sampleTime):
		}
	}
	return memory{sum.privateBytes / samples, sum.fileBytes / samples, sum.peakBytes / samples}, nil
}

// scrape asks an operator for its metrics, as an administrator.
func (b *bench) scrape(ctx context.Context, address string) (string, error) {
	config := b.cluster.AdminConfig()
	// The certificate of a process that has no Service in front of it is its own.
	config.TLSClientConfig = rest.TLSClientConfig{Insecure: true, CertData: config.CertData, KeyData: config.KeyData, CertFile: config.CertFile, KeyFile: config.KeyFile}
	tlsConfig, err := rest.TLSConfigFor(config)
	if err != nil {
		return "", err
	}
	client := http.Client{Timeout: patience, Transport: &http.Transport{TLSClientConfig: tlsConfig}}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+"/metrics", nil)
	if err != nil {
		return "", err
	}
	answer, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", answer.Status, text)
	}
	return string(text), err
}

// gauge is the value of a metric without labels in Prometheus' text.
func gauge(metrics, name string) (float64, error) {
	for line := range strings.Lines(metrics) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("no metric %s", name)
}
