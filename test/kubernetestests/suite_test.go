package main

import (
	"regexp"
	"slices"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestFocus(t *testing.T) {
	pattern := regexp.MustCompile(focus("External [Driver: a] ", []string{"reads (ext4)", "writes"}))
	for text, want := range map[string]bool{
		"suite External [Driver: a] reads (ext4)": true,
		"suite External [Driver: a] writes":       true,
		"suite External [Driver: a] writes more":  false,
		"suite External [Driver: b] writes":       false,
		"suite External [Driver: a] reads ext4":   false,
	} {
		if pattern.MatchString(text) != want {
			t.Errorf("%s: chosen %t", text, !want)
		}
	}
}

func TestReadmeLoop(t *testing.T) {
	for kind, want := range map[string]string{
		"rbd":    `for file in *.in; do sed -e "s/CLUSTER_ID/$(kubectl get storageclass ceph-rbd -o jsonpath='{.parameters.clusterID}')/" -e "s/PLACE/$(kubectl get storageclass ceph-rbd -o jsonpath='{.parameters.pool}')/" $file > ${file%.in}; done`,
		"cephfs": `for file in *.in; do sed -e "s/CLUSTER_ID/$(kubectl get storageclass ceph-cephfs -o jsonpath='{.parameters.clusterID}')/" -e "s/PLACE/$(kubectl get storageclass ceph-cephfs -o jsonpath='{.parameters.fsName}')/" $file > ${file%.in}; done`,
	} {
		i := slices.IndexFunc(driver.All, func(d driver.Driver) bool { return d.Kind == kind })
		if got, err := readmeLoop(driver.All[i]); err != nil || got != want {
			t.Errorf("%s: got %s, %v", kind, got, err)
		}
	}
}

func TestReadmeFlags(t *testing.T) {
	got, err := readmeFlags("/k")
	if want := []string{"-kubeconfig=/k", "-repo-root=.", "-storage.testdriver=manifest.yaml"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
}
