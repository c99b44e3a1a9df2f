package driver

// VersionAnnotation is on the workloads of a driver: which version of the operator has applied them, and
// what. A version that does not know the annotation leaves it there and changes the rest.
const VersionAnnotation = "storage.openshift.io/operator-version"

// specHash is the annotation in which library-go keeps a hash of what it applied.
const specHash = "operator.openshift.io/spec-hash"

// VersionMark is what VersionAnnotation says among annotations while a version of the operator is the
// last that has applied the workload.
func VersionMark(version string, annotations map[string]string) string {
	return version + " " + annotations[specHash]
}
