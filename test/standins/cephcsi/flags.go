package main

import (
	"errors"
	"flag"
	"fmt"
	"time"

	"k8s.io/klog/v2"

	"github.com/openshift/ceph-csi-driver-operator/test/standins/cephcsi/access"
)

// release is that of the ceph-csi which the program stands in for. Linking sets it (-X).
var release = "3.18"

// options are what the flags say, as far as the stand-in goes by them.
type options struct {
	access.Settings
	kind, endpoint, addonsEndpoint, domainLabels string
	controller, node, version                    bool
	metricsPort                                  int
	metricsPath                                  string
	pollTime, timeout                            time.Duration
}

// between says which releases know a flag; empty is without end.
type between struct{ since, until string }

// others are flags that the stand-in takes as ceph-csi does, and nothing more, with their defaults.
var others = map[string]string{
	"drivernamespace": "default", "stagingpath": "/var/lib/kubelet/plugins/kubernetes.io/csi/", "crush-location-labels": "", "kernelmountoptions": "",
}

// numbers, switches and durations are the same.
var (
	numbers  = map[string]int{"pidlimit": 0}
	switches = map[string]bool{
		"enable-read-affinity": false, "forcecephkernelclient": false, "skipforceflatten": false, "enableprofiling": false, "automaxprocs": false, "enable-fencing": false,
	}
	durations = map[string]time.Duration{"logslowopinterval": 30 * time.Second}
	gates     = map[string]string{"feature-gates": ""}
)

// lifetimes are of the flags that not all releases from 3.14 to 3.18 know.
var lifetimes = map[string]between{
	"automaxprocs": {since: "3.15"}, "enable-fencing": {since: "3.15"}, "feature-gates": {since: "3.17"},
}

// parse fails on flags that the release does not know, as ceph-csi does.
func parse(arguments []string) (options, error) {
	o := options{}
	all := flag.NewFlagSet("cephcsi", flag.ContinueOnError)
	o.define(all)
	for name, value := range others {
		all.String(name, value, "")
	}
	for name, value := range gates {
		all.String(name, value, "")
	}
	for name, value := range numbers {
		all.Int(name, value, "")
	}
	for name, value := range switches {
		all.Bool(name, value, "")
	}
	for name, value := range durations {
		all.Duration(name, value, "")
	}
	klog.InitFlags(all)
	known := flag.NewFlagSet("cephcsi", flag.ContinueOnError)
	all.VisitAll(func(f *flag.Flag) {
		life := lifetimes[f.Name]
		if life.since <= release && (life.until == "" || release < life.until) {
			known.Var(f.Value, f.Name, f.Usage)
		}
	})
	if err := known.Parse(arguments); err != nil {
		return o, err
	}
	// From 3.17 on volumes are tagged whatever the flag says.
	o.SetMetadata = o.SetMetadata || release >= "3.17"
	o.NotesUsers = o.SetMetadata && release >= "3.16"
	o.NotesMounters = release >= "3.17"
	if known.NArg() > 0 {
		return o, fmt.Errorf("unexpected arguments %q", known.Args())
	}
	return o, nil
}

func (o *options) define(all *flag.FlagSet) {
	all.StringVar(&o.kind, "type", "", "driver type [rbd|cephfs|liveness]")
	all.StringVar(&o.endpoint, "endpoint", "unix:///tmp/csi.sock", "CSI endpoint")
	all.StringVar(&o.DriverName, "drivername", "", "name of the driver")
	all.StringVar(&o.NodeID, "nodeid", "", "node id")
	all.StringVar(&o.PluginPath, "pluginpath", "/var/lib/kubelet/plugins", "plugin path")
	all.StringVar(&o.ClusterName, "clustername", "", "name of the cluster")
	all.BoolVar(&o.SetMetadata, "setmetadata", release >= "3.15", "set metadata on the volume")
	all.StringVar(&o.InstanceID, "instanceid", "default", "unique ID distinguishing this instance")
	all.BoolVar(&o.controller, "controllerserver", false, "start cephcsi controller server")
	all.BoolVar(&o.node, "nodeserver", false, "start cephcsi node server")
	all.StringVar(&o.domainLabels, "domainlabels", "", "list of Kubernetes node labels that determine the topology domain")
	all.StringVar(&o.RadosNamespaceCephFS, "radosnamespacecephfs", "", "CephFS RadosNamespace of the journal")
	all.StringVar(&o.FuseMountOptions, "fusemountoptions", "", "mount options for ceph-fuse")
	all.IntVar(&o.metricsPort, "metricsport", 8080, "TCP port for liveness metrics requests")
	all.StringVar(&o.metricsPath, "metricspath", "/metrics", "path of prometheus endpoint")
	all.DurationVar(&o.pollTime, "polltime", time.Minute, "time interval between each poll")
	all.DurationVar(&o.timeout, "timeout", 3*time.Second, "probe timeout")
	all.IntVar(&o.HardDepth, "rbdhardmaxclonedepth", 8, "hard limit for maximum number of nested volume clones")
	all.IntVar(&o.SoftDepth, "rbdsoftmaxclonedepth", 4, "soft limit for maximum number of nested volume clones")
	all.IntVar(&o.MaxSnapshots, "maxsnapshotsonimage", 450, "maximum number of snapshots on an image")
	all.IntVar(&o.MinSnapshots, "minsnapshotsonimage", 250, "number of snapshots to start flattening at")
	all.BoolVar(&o.version, "version", false, "print version information")
	all.StringVar(&o.addonsEndpoint, "csi-addons-endpoint", "unix:///tmp/csi-addons.sock", "CSI-Addons endpoint")
}

// check refuses what ceph-csi ends with.
func (o *options) check() error {
	if o.kind == "" {
		return errors.New("driver type not specified")
	}
	if o.DriverName == "" {
		o.DriverName = o.kind + ".csi.ceph.com"
	}
	switch {
	case o.kind != "liveness" && o.NodeID == "":
		return errors.New("NodeID missing: failed to initialize CSI driver")
	case o.HardDepth < 1 || o.HardDepth > 14:
		return errors.New("rbdhardmaxclonedepth flag value should be between 1 and 14")
	case o.SoftDepth > o.HardDepth:
		return errors.New("rbdsoftmaxclonedepth flag value should not be greater than rbdhardmaxclonedepth")
	case o.MaxSnapshots < 1 || o.MaxSnapshots > 500:
		return errors.New("maxsnapshotsonimage flag value should be between 1 and 500")
	case o.MinSnapshots > o.MaxSnapshots:
		return errors.New("minsnapshotsonimage flag value should be less than maxsnapshotsonimage")
	}
	return nil
}
