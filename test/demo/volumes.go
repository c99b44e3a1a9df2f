package main

import (
	"context"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/onnodes"
)

const (
	// writer is the pod at the story's end.
	writer = "demo"
	// written are the bytes that it writes to each volume.
	written = "16777216"
)

// write has a pod write to a volume of each driver, and read it again past the caches.
func (s *story) write(ctx context.Context) error {
	var claims []string
	for _, d := range driver.All {
		claim := "demo-" + d.Kind
		claims = append(claims, claim)
		if err := s.nodes.Claim(ctx, claim, d.StorageClass); err != nil {
			return err
		}
	}
	for i, claim := range claims {
		if err := s.nodes.Bound(ctx, claim); err != nil {
			return err
		}
		s.printer.say(driver.All[i].Kind, "PersistentVolumeClaim %s is bound", claim)
	}
	if err := s.nodes.Mount(ctx, writer, claims...); err != nil {
		return err
	}
	s.printer.say("cluster", "pod %s runs with both volumes", writer)
	for i, claim := range claims {
		for _, command := range []string{"write", "verify"} {
			out, err := s.nodes.Do(ctx, writer, command, onnodes.Folder(claim)+"/file", written, claim)
			if err != nil {
				return err
			}
			s.printer.say(driver.All[i].Kind, "pod %s: %s", writer, out)
		}
	}
	return nil
}
