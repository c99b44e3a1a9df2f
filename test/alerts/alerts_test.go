package alerts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// last is the minute in which a row ends.
const last = 150

// What sidecars tell of CreateVolume, by how the calls ended and how long they took.
const (
	createOK      = `csi_sidecar_operations_seconds_count{SIDECAR,method_name="/csi.v1.Controller/CreateVolume",grpc_status_code="OK"}`
	createAborted = `csi_sidecar_operations_seconds_count{SIDECAR,method_name="/csi.v1.Controller/CreateVolume",grpc_status_code="Aborted"}`
	createFailed  = `csi_sidecar_operations_seconds_count{SIDECAR,method_name="/csi.v1.Controller/CreateVolume",grpc_status_code="Internal"}`
	createWrong   = `csi_sidecar_operations_seconds_count{SIDECAR,method_name="/csi.v1.Controller/CreateVolume",grpc_status_code="InvalidArgument"}`
	createWithin  = `csi_sidecar_operations_seconds_bucket{SIDECAR,method_name="/csi.v1.Controller/CreateVolume",grpc_status_code="OK",le="%s"}`
	poolStored    = `ceph_csi_driver_operator_pool_stored_bytes{OPERATOR,fsid="a",pool="p"}`
	poolAvailable = `ceph_csi_driver_operator_pool_available_bytes{OPERATOR,fsid="a",pool="p"}`
	certificate   = `ceph_csi_driver_operator_serving_certificate_expiration_timestamp_seconds{OPERATOR,secret="s"}`
)

func within(le string) string { return fmt.Sprintf(createWithin, le) }

// healthy are the series of a driver that works; times of certificates count from minute 0.
var healthy = map[string]string{
	`up{OPERATOR}`: "1x150",
	`ceph_csi_driver_operator_reachable{OPERATOR,fsid="a"}`:             "1x150",
	`ceph_csi_driver_operator_monmap_epoch{OPERATOR,fsid="a"}`:          "5x150",
	`ceph_csi_driver_operator_written_monmap_epoch{OPERATOR,fsid="a"}`:  "5x150",
	`ceph_csi_driver_operator_missing_pools{OPERATOR,fsid="a"}`:         "0x150",
	`ceph_csi_driver_operator_unprotected_pools{OPERATOR,fsid="a"}`:     "0x150",
	`ceph_csi_driver_operator_mons{OPERATOR,fsid="a"}`:                  "3x150",
	`ceph_csi_driver_operator_volumes{OPERATOR,fsid="a"}`:               "7x150",
	`ceph_csi_driver_operator_pool_volumes{OPERATOR,fsid="a",pool="p"}`: "7x150",
	poolStored:    "80x150",
	poolAvailable: "20x150",
	`ceph_csi_driver_operator_nodes{OPERATOR,state="served"}`:         "3x150",
	`ceph_csi_driver_operator_nodes{OPERATOR,state="not_served"}`:     "0x150",
	`ceph_csi_driver_operator_nodes{OPERATOR,state="not_ready"}`:      "2x150",
	`ceph_csi_driver_operator_untagged_volumes{OPERATOR,fsid="a"}`:    "0x150",
	`ceph_csi_driver_operator_conflicting_volumes{OPERATOR,fsid="a"}`: "0x150",
	certificate:    "17280000x150",
	createOK:       "0+3x150",
	createFailed:   "0+1x150",
	within("1"):    "0+3x150",
	within("50"):   "0+3x150",
	within("120"):  "0+3x150",
	within("+Inf"): "0+3x150",
}

// written writes series down as promtool reads them.
func written(kind string, series map[string]string) string {
	operator, controller := "ceph-"+kind+"-csi-driver-operator", "ceph-"+kind+"-csi-driver-controller"
	replacer := strings.NewReplacer(
		"OPERATOR", fmt.Sprintf(`namespace=%q,job="%s-metrics",service="%[2]s-metrics",endpoint="https",pod="%[2]s-1",instance="10.0.0.1:8443"`, namespace, operator),
		"SIDECAR", fmt.Sprintf(`namespace=%q,job="%s-metrics",service="%[2]s-metrics",endpoint="provisioner-m",pod="%[2]s-1",instance="10.0.0.2:9202",driver_name="%s.csi.ceph.com"`, namespace, controller, kind),
	)
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(series)) {
		if series[name] != "" {
			fmt.Fprintf(&out, "%s %s\n", replacer.Replace(name), series[name])
		}
	}
	return out.String()
}

// with is what is healthy but for some series; one without values is absent.
func with(other map[string]string) map[string]string {
	out := maps.Clone(healthy)
	maps.Copy(out, other)
	return out
}

func none() map[string]string {
	out := map[string]string{}
	for name := range healthy {
		out[name] = ""
	}
	return out
}

var rows = map[string]struct {
	reason string
	series map[string]string
	// want are the minutes in which alerts begin and end.
	want map[string]string
	// says is part of what a person reads.
	says string
}{
	"Healthy": {reason: "nodes that are not ready themselves are somebody else's alert"},
	"Nothing": {
		reason: "without metrics nobody knows what is broken", series: none(),
		want: map[string]string{"CephCSIOperatorDown": "10-"}, says: "is down, or cannot be scraped",
	},
	"OperatorDown": {
		reason: "until it is back", series: map[string]string{"up{OPERATOR}": "1x9 0x29 1x150"},
		want: map[string]string{"CephCSIOperatorDown": "20-40"}, says: "oc -n openshift-cluster-csi-drivers logs deployment/",
	},
	"OperatorGone": {
		reason: "nothing is scraped where no pod is; the last sample is good for five minutes", series: map[string]string{"up{OPERATOR}": "1x9 _x40 1x150"},
		want: map[string]string{"CephCSIOperatorDown": "24-50"},
	},
	"OperatorRestarts": {reason: "that takes a while", series: map[string]string{"up{OPERATOR}": "1x9 0x8 1x150"}},
	"Unreachable": {
		reason: "one of two", series: map[string]string{`ceph_csi_driver_operator_reachable{OPERATOR,fsid="b"}`: "1x9 0x29 1x150"},
		want: map[string]string{"CephCSIClusterUnreachable": "15-40"}, says: "Ceph cluster b does not answer",
	},
	"NeverReachable": {
		reason: "the operator was started during the outage",
		series: map[string]string{
			`ceph_csi_driver_operator_reachable{OPERATOR,fsid=""}`:             "0x30 _x150",
			`ceph_csi_driver_operator_reachable{OPERATOR,fsid="a"}`:            "_x30 1x150",
			`ceph_csi_driver_operator_monmap_epoch{OPERATOR,fsid="a"}`:         "_x30 5x150",
			`ceph_csi_driver_operator_written_monmap_epoch{OPERATOR,fsid="a"}`: "_x30 5x150",
		},
		want: map[string]string{"CephCSIClusterUnreachable": "5-35"}, says: "without an fsid",
	},
	"MonsNotFollowed": {
		reason: "the Secret has the monmap before the newest", series: map[string]string{
			`ceph_csi_driver_operator_monmap_epoch{OPERATOR,fsid="a"}`:         "5x9 6x150",
			`ceph_csi_driver_operator_written_monmap_epoch{OPERATOR,fsid="a"}`: "5x49 6x150",
		},
		want: map[string]string{"CephCSIMonitorsNotFollowed": "20-50"}, says: "the mons of monmap epoch 6 of Ceph cluster a",
	},
	"MonsNeverWritten": {
		reason: "the Secret has none at all", series: map[string]string{`ceph_csi_driver_operator_written_monmap_epoch{OPERATOR,fsid="a"}`: "_x60 5x150"},
		want: map[string]string{"CephCSIMonitorsNotFollowed": "10-60"},
	},
	"MonsGoBack": {
		reason: "a monmap that was restored is older", series: map[string]string{`ceph_csi_driver_operator_written_monmap_epoch{OPERATOR,fsid="a"}`: "7x150"},
	},
	"PoolMissing": {
		reason: "made at last", series: map[string]string{`ceph_csi_driver_operator_missing_pools{OPERATOR,fsid="a"}`: "0x9 2x29 0x150"},
		want: map[string]string{"CephCSIPoolMissing": "20-40"}, says: "2 pools, filesystems",
	},
	"PoolFull": {
		reason: "room was made", series: map[string]string{poolStored: "80x9 90x39 80x150", poolAvailable: "20x9 10x39 20x150"},
		want: map[string]string{"CephCSIPoolNearlyFull": "25-50"}, says: "Pool p, which",
	},
	"PoolUnprotected": {
		reason: "it takes a while to write flags", series: map[string]string{`ceph_csi_driver_operator_unprotected_pools{OPERATOR,fsid="a"}`: "0x9 1x89 0x150"},
		want: map[string]string{"CephCSIPoolUnprotected": "70-100"},
	},
	"NodesNotServed": {
		reason: "a rollout takes less", series: map[string]string{`ceph_csi_driver_operator_nodes{OPERATOR,state="not_served"}`: "0x9 1x29 0x150"},
		want: map[string]string{"CephCSINodesNotServed": "25-40"}, says: "1 nodes that are ready",
	},
	"Rollout": {reason: "pods are replaced", series: map[string]string{`ceph_csi_driver_operator_nodes{OPERATOR,state="not_served"}`: "0x9 1x12 0x150"}},
	"Untagged": {
		reason: "tagged at last", series: map[string]string{`ceph_csi_driver_operator_untagged_volumes{OPERATOR,fsid="a"}`: "0x9 4x89 0x150"},
		want: map[string]string{"CephCSIVolumesUntagged": "70-100"},
	},
	"Conflicting": {
		reason: "the tag was changed", series: map[string]string{`ceph_csi_driver_operator_conflicting_volumes{OPERATOR,fsid="a"}`: "0x9 4x29 0x150"},
		want: map[string]string{"CephCSIVolumesConflicting": "20-40"},
	},
	"Failing": {
		reason: "asked for now and then, and never made", series: map[string]string{createOK: "", createFailed: "0x9 0+1x60 60x150"},
		want: map[string]string{"CephCSIOperationsFailing": "26-99"}, says: "100% of the calls of /csi.v1.Controller/CreateVolume",
	},
	"Waiting": {
		reason: "a clone is still being made: it is asked for again and again", series: map[string]string{createOK: "0x150", createFailed: "", createAborted: "0+5x150"},
	},
	"WrongClass": {reason: "the class names an image feature that there is not", series: map[string]string{createOK: "", createFailed: "", createWrong: "0+5x150"}},
	"Slow": {
		reason: "one in ten takes more than 50 s",
		series: map[string]string{within("1"): "0x150", within("50"): "0+1x150", within("120"): "0+3x150"},
		want:   map[string]string{"CephCSIOperationsSlow": "31-"}, says: "takes longer than 1m",
	},
	"CertificateEnds": {
		reason: "30 days before", series: map[string]string{certificate: "2593800x100 31536000x150"},
		want: map[string]string{"CephCSICertificateExpiring": "91-101"}, says: "Secret s ends in 29d 22h",
	},
}

// TestAlerts: each fires for its reason alone, and stops.
func TestAlerts(t *testing.T) {
	for _, kind := range kinds {
		all := rules(t, kind)
		fired := map[string]bool{}
		for name, row := range rows {
			t.Run(kind+"/"+name, func(t *testing.T) {
				series := remember(t, written(kind, with(row.series)))
				got, text := map[string]string{}, ""
				for _, r := range all {
					for _, f := range watch(t, r, series, last) {
						got[r.Alert] += f.String()
						text += f.text + "\n"
						fired[r.Alert] = true
					}
				}
				if !maps.Equal(got, row.want) {
					t.Errorf("%s: got %v, want %v", row.reason, got, row.want)
				}
				if !strings.Contains(text, row.says) {
					t.Errorf("%s: %q is not in:\n%s", row.reason, row.says, text)
				}
			})
		}
		for _, r := range all {
			if !fired[r.Alert] {
				t.Errorf("%s: no row makes %s fire", kind, r.Alert)
			}
		}
	}
}

// TestOtherDriver: what is broken in one driver fires none of the other's alerts, and neither do
// series of that name from elsewhere.
func TestOtherDriver(t *testing.T) {
	for _, kind := range kinds {
		other := kinds[1-slices.Index(kinds, kind)]
		broken := map[string]string{}
		for _, row := range rows {
			maps.Copy(broken, row.series)
		}
		broken["up{OPERATOR}"] = "0x150"
		elsewhere := strings.ReplaceAll(written(kind, broken), namespace, "mine")
		series := remember(t, written(kind, healthy)+written(other, broken)+elsewhere)
		for _, r := range rules(t, kind) {
			for labels, f := range watch(t, r, series, last) {
				t.Errorf("%s: %s fires for %s at %s", kind, r.Alert, labels, f)
			}
		}
	}
}
