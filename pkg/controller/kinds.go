package controller

import "k8s.io/apimachinery/pkg/runtime/schema"

// Kinds that several packages read without a client of their own.
var (
	CRDs             = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	SnapshotContents = schema.GroupVersionResource{Group: "snapshot.storage.k8s.io", Version: "v1", Resource: "volumesnapshotcontents"}
	// GroupSnapshotContents are served at another version by each release of external-snapshotter.
	GroupSnapshotContents = schema.GroupResource{Group: "groupsnapshot.storage.k8s.io", Resource: "volumegroupsnapshotcontents"}
)
