// cluster-storage-operator vendors this module, which therefore must need no other.
module github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/configs

go 1.25.0
