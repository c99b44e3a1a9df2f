// Command nodedriverregistrar takes the place of node-driver-registrar 2.15 to 2.17: it has their
// flags and exit codes and tells the kubelet of the driver as they do.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"

	"k8s.io/klog/v2"

	"github.com/openshift/ceph-csi-driver-operator/test/standins/sidecar"
)

const (
	// probeMode was once that of an exec probe; it does nothing any more.
	probeMode = "kubelet-registration-probe"
	// connectTimeout is how long the driver may take to come up.
	connectTimeout = 30 * time.Second
)

type options struct {
	timeout                        time.Duration
	csiAddress                     string
	registrationDir, kubeletSocket string
	healthPort                     int
	httpEndpoint                   string
	version, pprof                 bool
	mode                           string
}

func (o *options) add(flags *flag.FlagSet) {
	flags.Duration("connection-timeout", 0, "deprecated, without effect")
	flags.DurationVar(&o.timeout, "timeout", time.Second, "timeout of calls")
	flags.StringVar(&o.csiAddress, "csi-address", "/run/csi/socket", "the driver's socket")
	flags.StringVar(&o.registrationDir, "plugin-registration-path", "/registration", "folder of the kubelet's plugins")
	flags.StringVar(&o.kubeletSocket, "kubelet-registration-path", "", "the driver's socket as the kubelet sees it")
	flags.IntVar(&o.healthPort, "health-port", 0, "deprecated: port of /healthz")
	flags.StringVar(&o.httpEndpoint, "http-endpoint", "", "address of /healthz")
	flags.BoolVar(&o.version, "version", false, "show the version")
	flags.StringVar(&o.mode, "mode", "", "deprecated")
	flags.BoolVar(&o.pprof, "enable-pprof", false, "serve profiles")
	sidecar.AddAutomaxprocs(flags)
}

func main() {
	var o options
	flags := sidecar.Flags()
	o.add(flags)
	sidecar.Parse(flags, os.Args[1:])
	switch {
	case o.version:
		fmt.Println(os.Args[0], "stand-in")
		return
	case o.kubeletSocket == "":
		sidecar.Fail(nil, "kubelet-registration-path is a required parameter")
	case o.mode == probeMode:
		return
	case o.healthPort > 0 && o.httpEndpoint != "":
		sidecar.Fail(nil, "Only one of `--health-port` and `--http-endpoint` can be set")
	case o.healthPort > 0:
		o.httpEndpoint = ":" + strconv.Itoa(o.healthPort)
	}
	name, err := o.driverName()
	if err != nil {
		sidecar.Fail(err, "Error retrieving CSI driver name", "csiAddress", o.csiAddress)
	}
	klog.Background().V(2).Info("CSI driver name", "csiDriverName", name)
	serve(&o, name)
}

func (o *options) driverName() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	conn, err := sidecar.Connect(ctx, o.csiAddress)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	ctx, cancel = context.WithTimeout(context.Background(), o.timeout)
	defer cancel()
	return sidecar.DriverName(ctx, conn)
}
