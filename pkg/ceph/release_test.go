package ceph

import "testing"

func TestTooOld(t *testing.T) {
	for release, want := range map[string]bool{"15.2.17": true, "16.1.0": true, "16.2.0": false, "16.2.15": false, "17.0.0": false, "20.2.4": false, "": false, "main": false} {
		if got := TooOld(release); got != want {
			t.Errorf("%q: %v", release, got)
		}
	}
}

func TestQuiesces(t *testing.T) {
	for release, want := range map[string]bool{"16.2.15": false, "18.2.7": false, "19.1.0": false, "19.2.0": true, "20.2.4": true, "": true, "main": true} {
		if got := Quiesces(release); got != want {
			t.Errorf("%q: %v", release, got)
		}
	}
}
