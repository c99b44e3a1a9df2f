package check

import (
	"fmt"
	"slices"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/shell"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

const credentialsSecret = driver.CredentialsSecret

func apiServer(config Config, f facts) []Line {
	const name = "API server"
	if err := f.cluster.version.err; err != nil {
		oc := "oc"
		if config.Cluster.Kubeconfig != "" {
			oc += " --kubeconfig " + config.Cluster.Kubeconfig
		}
		return []Line{wrong(name, err.Error(), oc+" get --raw /version")}
	}
	return []Line{right(name, "Kubernetes %s", f.cluster.version.value)}
}

func namespace(_ Config, f facts) []Line {
	const name = "namespace"
	switch fact := f.cluster.namespace; {
	case fact.err != nil:
		return []Line{unknown(name, fact.err.Error())}
	case fact.value == nil:
		if f.cluster.plain() {
			return []Line{wrong(name, driver.Namespace+" does not exist", kubernetesManifests)}
		}
		return []Line{wrong(name, driver.Namespace+" does not exist", "oc create namespace "+driver.Namespace)}
	}
	return []Line{right(name, "%s exists", driver.Namespace)}
}

// declaration compares the Secret, which may not be there yet, with the files.
func declaration(config Config, f facts) []Line {
	const name = "Secret " + credentialsSecret
	create := fmt.Sprintf("oc create secret generic %s -n %s --from-file=ceph.conf=%s --from-file=keyring=%s",
		credentialsSecret, driver.Namespace, shell.Quote(config.Conf.Name), shell.Quote(config.Keyring.Name))
	if config.User != "" {
		create += " --from-literal=userID=" + shell.Quote(f.user.value.UserID)
	}
	fact := f.cluster.secret
	switch {
	case fact.err != nil:
		return []Line{unknown(name, fact.err.Error())}
	case fact.value == nil:
		return []Line{note(name, "not there yet: the operator waits for it", create)}
	}
	source, err := f.secretSource.value, f.secretSource.err
	replace := []string{"oc delete secret " + credentialsSecret + " -n " + driver.Namespace, create}
	switch {
	case err != nil:
		return []Line{wrong(name, err.Error(), replace...)}
	case f.fsid.known() && source.FSID != "" && source.FSID != f.fsid.value:
		return []Line{note(name, fmt.Sprintf("declares Ceph cluster %s, not %s of the files", source.FSID, f.fsid.value), replace...)}
	case f.user.known() && source.Entity() != f.user.value.Entity():
		return []Line{note(name, fmt.Sprintf("has user %s, not %s of the files", source.Entity(), f.user.value.Entity()), replace...)}
	case f.user.known() && source.Key.Reveal() != f.user.value.Key.Reveal():
		return []Line{note(name, fmt.Sprintf("has another key of %s than the files", source.Entity()), replace...)}
	}
	return []Line{right(name, "declares the same Ceph cluster and user as the files")}
}

func infrastructure(_ Config, f facts) []Line {
	const name = "Infrastructure"
	fact := f.cluster.infrastructure
	if fact.err != nil {
		return []Line{unknown(name, fact.err.Error())}
	}
	text := infrastructureName(fact.value)
	if fact.value == nil && f.cluster.plain() {
		return []Line{right(name, "not there: ceph-cluster-storage makes it")}
	}
	if fact.value == nil || text == placeholder {
		return []Line{wrong(name, "Infrastructure cluster has no status.infrastructureName, which names the operator's pool and users",
			"oc get infrastructure cluster -o yaml")}
	}
	return []Line{right(name, "infrastructure name %s", text)}
}

// storage tells whether ceph-cluster-storage does anything.
func storage(_ Config, f facts) []Line {
	const name = "Storage"
	fact := f.cluster.storage
	if fact.err != nil {
		return []Line{unknown(name, fact.err.Error())}
	}
	if fact.value == nil && f.cluster.plain() {
		return []Line{right(name, "not there: ceph-cluster-storage makes it")}
	}
	if fact.value == nil {
		return []Line{wrong(name, "Storage cluster does not exist: ceph-cluster-storage starts no driver without it, and makes it only where a release was made with REPORT=yes",
			"oc get deployment cluster-storage-operator -n openshift-cluster-storage-operator  # where there is one, the cluster version operator makes Storage cluster",
			"make release VERSION=$VERSION IMAGE=$IMAGE CEPH_CSI_IMAGE=$CEPH_CSI_IMAGE REPORT=yes && oc apply -f bin/release/  # where there is none, and HyperShift does not run it elsewhere")}
	}
	state, _, _ := unstructured.NestedString(fact.value.Object, "spec", "managementState")
	if state != string(operatorv1.Managed) {
		return []Line{wrong(name, fmt.Sprintf("spec.managementState of Storage cluster is %q: ceph-cluster-storage starts, repairs and reports nothing", state),
			`oc patch storages.operator.openshift.io cluster --type=merge -p '{"spec":{"managementState":"Managed"}}'`)}
	}
	return []Line{right(name, "Storage cluster is Managed")}
}

// driversAccepted tells whether the CRD knows the drivers' names and settings.
func driversAccepted(config Config, f facts) []Line {
	const name = "ClusterCSIDriver"
	fact := f.cluster.crds[driversCRD]
	switch {
	case fact.err != nil:
		return []Line{unknown(name, fact.err.Error())}
	case fact.value == nil:
		return []Line{wrong(name, "CRD "+driversCRD+" does not exist: this is no OpenShift; the README tells more (\"On Kubernetes without OpenShift\")",
			kubernetesManifests)}
	}
	const patch = "oc patch crd " + driversCRD + " --type=json --patch-file manifests/crd-patch/clustercsidriver.patch.json"
	names, member := accepted(fact.value)
	var missing []string
	for _, d := range config.Drivers {
		if !slices.Contains(names, d.Name) && f.cluster.resources[d.Name].value == nil {
			missing = append(missing, d.Name)
		}
	}
	switch {
	case len(missing) > 0:
		return []Line{wrong(name, "CRD "+driversCRD+" does not allow the names "+strings.Join(missing, ", ")+`; the README tells more ("Let the cluster accept the names")`, patch)}
	case !member:
		return []Line{note(name, "CRD "+driversCRD+" drops spec.driverConfig.ceph: edit settings in the annotation "+driver.SettingsAnnotation+", or patch the CRD before", patch)}
	}
	return []Line{right(name, "the CRD knows the drivers and spec.driverConfig.ceph")}
}

// accepted reads the names that the CRD's schema allows, and whether it has the settings.
func accepted(crd *unstructured.Unstructured) (names []string, member bool) {
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, v := range versions {
		version, ok := v.(map[string]any)
		if !ok {
			continue
		}
		schema := []string{"schema", "openAPIV3Schema", "properties"}
		found, _, _ := unstructured.NestedStringSlice(version, append(schema[:3:3], "metadata", "properties", "name", "enum")...)
		names = append(names, found...)
		_, there, _ := unstructured.NestedMap(version, append(schema[:3:3], "spec", "properties", "driverConfig", "properties", "ceph")...)
		member = member || there
	}
	return names, member
}

func csiDrivers(config Config, f facts) []Line {
	var lines []Line
	for _, d := range config.Drivers {
		name := "CSIDriver " + d.Name
		switch fact := f.cluster.csiDrivers[d.Name]; {
		case fact.err != nil:
			lines = append(lines, unknown(name, fact.err.Error()))
		case fact.value == nil:
			lines = append(lines, right(name, "not there: the operator makes it"))
		case !driver.Applied(fact.value):
			lines = append(lines, wrong(name, fmt.Sprintf("belongs to %s: the operator leaves it alone and does not deploy the driver", driver.Owner(fact.value)),
				"oc delete csidriver "+d.Name+"  # after the other driver is removed; or stay with it"))
		default:
			lines = append(lines, right(name, "is the operator's"))
		}
	}
	return lines
}

func scc(_ Config, f facts) []Line {
	const name = "SCC privileged"
	switch fact := f.cluster.scc; {
	case fact.err != nil:
		return []Line{unknown(name, fact.err.Error())}
	case fact.value == nil && f.cluster.plain():
		return []Line{right(name, "this is no OpenShift: the Pod Security labels of %s admit node pods", driver.Namespace)}
	case fact.value == nil:
		return []Line{wrong(name, "SecurityContextConstraints privileged do not exist: node pods are not admitted",
			"oc get scc; oc get clusteroperator kube-apiserver  # it keeps them")}
	}
	return []Line{right(name, "exists")}
}

// classes looks at every StorageClass of the drivers: does its place exist?
func classes(config Config, f facts) []Line {
	const name = "StorageClasses"
	if f.cluster.classes.err != nil {
		return []Line{unknown(name, f.cluster.classes.err.Error())}
	}
	if !f.fsid.known() {
		return []Line{unknown(name, "not looked at: "+session(f))}
	}
	var lines []Line
	count := 0
	for _, d := range config.Drivers {
		used := usage.Of(d, nil, f.cluster.classes.value, nil)
		problems := used.Unreadable
		if other := f.cluster.csiDrivers[d.Name]; other.value == nil || driver.Applied(other.value) {
			problems = slices.Concat(problems, used.Ineffective)
		}
		for _, p := range problems {
			lines = append(lines, wrong("StorageClass "+p.Class, p.Problem, "oc get storageclass "+p.Class+" -o yaml"))
		}
		for _, place := range used.Places {
			count++
			lines = append(lines, classLines(place, config, f)...)
		}
	}
	switch {
	case len(lines) > 0:
		return lines
	case count == 0:
		return []Line{right(name, "none of the drivers' yet")}
	}
	return []Line{right(name, "what those of the drivers name exists")}
}

// classLines has a line for each thing that a place of StorageClasses lacks.
func classLines(place usage.Place, config Config, f facts) []Line {
	name := "StorageClass " + strings.Join(place.Classes, ", ")
	if place.FSID != f.fsid.value {
		return []Line{note(name, fmt.Sprintf("clusterID is %q, another Ceph cluster than %s of the files: not looked at", place.FSID, f.fsid.value))}
	}
	var lines []Line
	for _, pool := range []string{place.Pool, place.DataPool} {
		exists := slices.ContainsFunc(f.pools.value, func(p ceph.Pool) bool { return p.Name == pool })
		if pool != "" && f.pools.known() && !exists {
			lines = append(lines, wrong(name, fmt.Sprintf("pool %q does not exist: claims stay Pending", pool), makePool(pool)...))
		}
	}
	exists := slices.ContainsFunc(f.filesystems.value, func(fs ceph.FileSystem) bool { return fs.Name == place.Filesystem })
	if place.Filesystem != "" && f.filesystems.known() && !exists {
		lines = append(lines, wrong(name, fmt.Sprintf("filesystem %q does not exist: claims stay Pending", place.Filesystem),
			"ceph fs volume create "+shell.Quote(place.Filesystem)))
	}
	return append(lines, untagged(name, place.Filesystem, config, f)...)
}
