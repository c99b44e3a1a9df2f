// Command livenessprobe takes the place of livenessprobe 2.15 to 2.19: it has the flags that all of
// them have, their exit codes, and answers probes as they do.
package main

import (
	"context"
	"flag"
	"net"
	"net/http"
	"os"
	"time"

	"k8s.io/klog/v2"

	"github.com/openshift/ceph-csi-driver-operator/test/standins/sidecar"
)

const defaultPort = "9808"

type options struct {
	probeTimeout                              time.Duration
	csiAddress, healthPort                    string
	metricsAddress, httpEndpoint, metricsPath string
}

func (o *options) add(flags *flag.FlagSet) {
	flags.DurationVar(&o.probeTimeout, "probe-timeout", time.Second, "timeout of a probe")
	flags.StringVar(&o.csiAddress, "csi-address", "/run/csi/socket", "the driver's socket")
	flags.StringVar(&o.healthPort, "health-port", defaultPort, "deprecated: port of /healthz")
	flags.StringVar(&o.metricsAddress, "metrics-address", "", "deprecated: address of the metrics")
	flags.StringVar(&o.httpEndpoint, "http-endpoint", "", "address of /healthz and the metrics")
	flags.StringVar(&o.metricsPath, "metrics-path", "/metrics", "path of the metrics")
}

func main() {
	var o options
	flags := sidecar.Flags()
	o.add(flags)
	sidecar.Parse(flags, os.Args[1:])
	switch {
	case o.healthPort != defaultPort && o.httpEndpoint != "":
		sidecar.Fail(nil, "Only one of `--health-port` and `--http-endpoint` can be explicitly set")
	case o.metricsAddress != "" && o.httpEndpoint != "":
		sidecar.Fail(nil, "Only one of `--metrics-address` and `--http-endpoint` can be explicitly set")
	}
	address := o.httpEndpoint
	if address == "" {
		address = net.JoinHostPort("0.0.0.0", o.healthPort)
	}
	// Nothing serves before the driver has a name: until then, the kubelet's probes are refused.
	conn, err := sidecar.Connect(context.Background(), o.csiAddress)
	if err != nil {
		sidecar.Fail(err, "Failed to establish connection to CSI driver")
	}
	name, err := sidecar.DriverName(context.Background(), conn)
	_ = conn.Close()
	if err != nil {
		sidecar.Fail(err, "Failed to get CSI driver name")
	}
	p := newProbe(&o, name)
	if o.metricsAddress != "" {
		go func() {
			sidecar.Fail(http.ListenAndServe(o.metricsAddress, p.metricsAlone()), "Failed to start prometheus metrics endpoint on specified address and path")
		}()
	}
	klog.Background().Info("ServeMux listening", "address", address, "driver", name)
	if err := http.ListenAndServe(address, p.handler()); err != nil {
		klog.Background().Error(err, "Failed to start http server")
	}
}
