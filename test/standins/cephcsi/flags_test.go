package main

import (
	"strings"
	"testing"
)

func TestFlags(t *testing.T) {
	tests := map[string]struct {
		reason    string
		release   string
		arguments string
		want      string
	}{
		"Controller":     {reason: "what the manifests give", release: "3.14", arguments: "--type=rbd --controllerserver=true --nodeid=n --endpoint=unix:///csi/csi.sock --csi-addons-endpoint=unix:///csi/csi-addons.sock --clustername=c --setmetadata=true --v=2 --drivername=rbd.csi.ceph.com"},
		"Klog":           {reason: "klog's flags are ceph-csi's", release: "3.14", arguments: "--type=rbd --nodeid=n --stderrthreshold=ERROR --vmodule=a=1"},
		"Unknown":        {reason: "ceph-csi ends with an unknown flag", release: "3.18", arguments: "--type=rbd --nodeid=n --fancy=true", want: "flag provided but not defined: -fancy"},
		"NotYet":         {reason: "fencing came with 3.15", release: "3.14", arguments: "--type=rbd --nodeid=n --enable-fencing=true", want: "flag provided but not defined: -enable-fencing"},
		"Since":          {reason: "fencing came with 3.15", release: "3.15", arguments: "--type=rbd --nodeid=n --enable-fencing=true"},
		"NoGatesYet":     {reason: "feature gates came with 3.17", release: "3.16", arguments: "--type=rbd --nodeid=n --feature-gates=SlowGRPCRestart=false", want: "flag provided but not defined: -feature-gates"},
		"Gates":          {reason: "feature gates came with 3.17", release: "3.17", arguments: "--type=rbd --nodeid=n --feature-gates=SlowGRPCRestart=false"},
		"NoType":         {reason: "it serves one kind", release: "3.18", arguments: "--nodeid=n", want: "driver type not specified"},
		"NoNode":         {reason: "controllers need a node's name, too", release: "3.18", arguments: "--type=cephfs", want: "NodeID missing"},
		"TooDeep":        {reason: "librbd allows 16", release: "3.18", arguments: "--type=rbd --nodeid=n --rbdhardmaxclonedepth=15", want: "rbdhardmaxclonedepth flag value should be between 1 and 14"},
		"TooManySnaps":   {reason: "librbd allows 510", release: "3.18", arguments: "--type=rbd --nodeid=n --maxsnapshotsonimage=501", want: "maxsnapshotsonimage flag value should be between 1 and 500"},
		"BadValue":       {reason: "values are checked", release: "3.18", arguments: "--type=rbd --nodeid=n --pidlimit=many", want: "invalid value"},
		"SoftAboveHard":  {reason: "the soft limit comes first", release: "3.18", arguments: "--type=rbd --nodeid=n --rbdsoftmaxclonedepth=9", want: "should not be greater than"},
		"PositionalWord": {reason: "a flag whose dashes were lost", release: "3.18", arguments: "--type=rbd nodeid=n", want: "unexpected arguments"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			defer func(before string) { release = before }(release)
			release = tc.release
			o, err := parse(strings.Fields(tc.arguments))
			if err == nil {
				err = o.check()
			}
			if err == nil && tc.want != "" || err != nil && (tc.want == "" || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%s: %v, wanted %q", tc.reason, err, tc.want)
			}
		})
	}
}

// TestMetadataByRelease: tagging is asked for, then the default, then always done.
func TestMetadataByRelease(t *testing.T) {
	defer func(before string) { release = before }(release)
	for name, want := range map[string]bool{
		"3.14": false, "3.14 --setmetadata=true": true, "3.15": true, "3.15 --setmetadata=false": false, "3.17 --setmetadata=false": true,
	} {
		words := strings.Fields(name)
		release = words[0]
		o, err := parse(append([]string{"--type=rbd", "--nodeid=n"}, words[1:]...))
		check(t, err)
		if o.SetMetadata != want {
			t.Errorf("%s: metadata is set: %t", name, o.SetMetadata)
		}
	}
}
