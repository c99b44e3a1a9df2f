// Package sidecar is what the stand-ins of the sidecars share: flags for logs and the connection to
// the driver.
package sidecar

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register" // --logging-format=json
	"k8s.io/klog/v2"
)

// Parse parses the program's arguments; flags for logs are added to flags. What is wrong ends the
// program, an unknown flag with code 2.
func Parse(flags *flag.FlagSet, arguments []string) {
	gates := featuregate.NewFeatureGate()
	_ = logsapi.AddFeatureGates(gates)
	config := logsapi.NewLoggingConfiguration()
	logsapi.AddGoFlags(config, flags)
	logs.InitLogs()
	_ = flags.Parse(arguments)
	if err := logsapi.ValidateAndApply(config, gates); err != nil {
		Fail(err, "LoggingConfiguration is invalid")
	}
}

// AddAutomaxprocs adds a flag that has no effect here: Go's runtime does the same by itself.
func AddAutomaxprocs(flags *flag.FlagSet) {
	flags.BoolFunc("automaxprocs", "match GOMAXPROCS to the container's quota", func(value string) error {
		_, err := strconv.ParseBool(value)
		return err
	})
}

// Fail ends the program as the sidecars do.
func Fail(err error, message string, keysAndValues ...any) {
	klog.Background().Error(err, message, keysAndValues...)
	klog.FlushAndExit(klog.ExitFlushTimeout, 1)
}

// Connect waits until the socket answers; ctx bounds that only.
func Connect(ctx context.Context, address string) (*grpc.ClientConn, error) {
	path := strings.TrimPrefix(address, "unix://")
	retries := backoff.DefaultConfig
	retries.MaxDelay = time.Second
	conn, err := grpc.NewClient("passthrough:///"+path,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: retries}),
		grpc.WithIdleTimeout(0),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}))
	if err != nil {
		return nil, err
	}
	conn.Connect()
	for state := conn.GetState(); state != connectivity.Ready; state = conn.GetState() {
		if !conn.WaitForStateChange(ctx, state) {
			_ = conn.Close()
			return nil, fmt.Errorf("connecting to %s: %w", address, ctx.Err())
		}
	}
	return conn, nil
}

// DriverName asks the driver for its name.
func DriverName(ctx context.Context, conn *grpc.ClientConn) (string, error) {
	info, err := csi.NewIdentityClient(conn).GetPluginInfo(ctx, &csi.GetPluginInfoRequest{})
	if err == nil && info.GetName() == "" {
		err = fmt.Errorf("driver name is empty")
	}
	return info.GetName(), err
}

// Flags are a program's, which what is wrong with them ends.
func Flags() *flag.FlagSet { return flag.NewFlagSet(os.Args[0], flag.ExitOnError) }
