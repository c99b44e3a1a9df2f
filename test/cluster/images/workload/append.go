package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

const (
	lineInterval = 100 * time.Millisecond
	// longPause is one that is logged.
	longPause = time.Second
	// requestTimeout bounds each request of get.
	requestTimeout = 30 * time.Second
)

// appendLines keeps a file open. A write that fails ends it; one that hangs shows as a pause.
func appendLines(ctx context.Context, path string, interval time.Duration, out io.Writer) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var longest time.Duration
	last := time.Now()
	fmt.Fprintln(out, "appending to", path)
	for line := 1; ; line++ {
		_, err := fmt.Fprintf(file, "%d %s\n", line, time.Now().UTC().Format(time.RFC3339Nano))
		if err = errors.Join(err, file.Sync()); err != nil {
			return fmt.Errorf("line %d after %s: %w", line, time.Since(last).Round(time.Millisecond), err)
		}
		pause := time.Since(last)
		longest, last = max(longest, pause), time.Now()
		if pause > longPause {
			fmt.Fprintf(out, "pause of %s before line %d\n", pause.Round(time.Millisecond), line)
		}
		select {
		case <-ctx.Done():
			fmt.Fprintf(out, "%d lines, longest pause %s\n", line, longest.Round(time.Millisecond))
			return nil
		case <-ticker.C:
		}
	}
}

// noToken is in the place of a token's file.
const noToken = "-"

// get asks as Prometheus does, but trusts every certificate, and shows the answer of each URL, in their order.
func get(ctx context.Context, tokenFile string, urls []string, show func(url string, response *http.Response) error) error {
	var token []byte
	if tokenFile != noToken {
		var err error
		if token, err = os.ReadFile(tokenFile); err != nil {
			return err
		}
	}
	client := &http.Client{Timeout: requestTimeout, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for _, url := range urls {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		if tokenFile != noToken {
			request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		if err := errors.Join(show(url, response), response.Body.Close()); err != nil {
			return err
		}
	}
	return nil
}
