// Command workload is what test pods run: it waits, writes and verifies files and block devices,
// keeps one open under write, and asks URLs.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

const usage = `usage:
  workload hold                       wait for SIGTERM
  workload write PATH BYTES SEED      write BYTES that SEED decides, and sync them
  workload verify PATH BYTES SEED     read them past the caches and compare
  workload append PATH                write and sync a line each 100 ms until SIGTERM; pauses are logged
  workload size PATH                  print the bytes of a block device or of a file's filesystem
  workload get TOKEN-FILE URL...      print the code that each URL answers, whatever its certificate; "-" is no token
  workload body TOKEN-FILE URL        print what the URL answers with code 200`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string, out io.Writer) error {
	command := ""
	if len(arguments) > 0 {
		command, arguments = arguments[0], arguments[1:]
	}
	switch {
	case command == "hold" && len(arguments) == 0:
		<-ctx.Done()
		return nil
	case (command == "write" || command == "verify") && len(arguments) == 3:
		return pattern(command, arguments, out)
	case command == "append" && len(arguments) == 1:
		return appendLines(ctx, arguments[0], lineInterval, out)
	case command == "size" && len(arguments) == 1:
		bytes, err := size(arguments[0])
		if err == nil {
			fmt.Fprintln(out, bytes)
		}
		return err
	case command == "get" && len(arguments) > 1:
		return get(ctx, arguments[0], arguments[1:], func(url string, response *http.Response) error {
			_, err := fmt.Fprintln(out, response.StatusCode, url)
			return err
		})
	case command == "body" && len(arguments) == 2:
		return get(ctx, arguments[0], arguments[1:], func(url string, response *http.Response) error {
			if response.StatusCode != http.StatusOK {
				return fmt.Errorf("%s answers %s", url, response.Status)
			}
			_, err := io.Copy(out, response.Body)
			return err
		})
	}
	return errors.New(usage)
}

func pattern(command string, arguments []string, out io.Writer) error {
	length, err := strconv.ParseInt(arguments[1], 10, 64)
	if err != nil || length < 0 {
		return fmt.Errorf("%s is no number of bytes", arguments[1])
	}
	begin := time.Now()
	if command == "write" {
		err = write(arguments[0], length, arguments[2])
	} else {
		err = verify(arguments[0], length, arguments[2])
	}
	if err == nil {
		fmt.Fprintf(out, "%s %s: %d bytes in %s\n", command, arguments[0], length, time.Since(begin).Round(time.Millisecond))
	}
	return err
}
