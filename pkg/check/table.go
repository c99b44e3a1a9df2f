package check

import "fmt"

// check is one row of the table.
type check struct {
	group string
	// name stands in a line that says why the check could not be made.
	name string
	// needs says what is missing for the check; empty when nothing is.
	needs  func(facts) string
	decide func(Config, facts) []Line
}

// checks are all, in the order of the report; those of each driver stand between the two
// lists.
var (
	checks = []check{
		{groupFiles, "ceph.conf", nothing, confFile},
		{groupFiles, "keyring", nothing, keyringFile},
		{groupMons, "addresses", mons, addresses},
		{groupMons, "quorum", session, quorum},
		{groupCeph, "connection", files, connection},
		{groupCeph, "versions", session, versions},
		{groupCeph, "clocks", session, clocks},
		{groupCeph, "modules", session, modules},
		{groupCeph, "key types", session, keyTypes},
		{groupUser, "minting", session, minting},
		{groupUser, "passthrough", session, passthrough},
		{groupUser, "pool protection", session, protection},
	}
	clusterChecks = []check{
		{groupKubernetes, "API server", nothing, apiServer},
		{groupKubernetes, "namespace", api, namespace},
		{groupKubernetes, "Secret " + credentialsSecret, api, declaration},
		{groupKubernetes, "Infrastructure", api, infrastructure},
		{groupKubernetes, "Storage", api, storage},
		{groupKubernetes, "ClusterCSIDriver", api, driversAccepted},
		{groupKubernetes, "CSIDriver", api, csiDrivers},
		{groupKubernetes, "SCC privileged", api, scc},
		{groupKubernetes, "snapshots", api, snapshots},
		{groupKubernetes, "snapshot-controller", api, snapshotControllers},
		{groupKubernetes, "group snapshots", api, groupSnapshots},
		{groupKubernetes, "StorageClasses", api, classes},
		{groupKubernetes, "virtual machines", api, virtualMachines},
	}
)

func nothing(facts) string { return "" }

func files(f facts) string {
	if !f.conf.known() || !f.user.known() {
		return "a file cannot be used"
	}
	return ""
}

func mons(f facts) string {
	if !f.conf.known() {
		return "ceph.conf cannot be used"
	}
	return ""
}

func session(f facts) string {
	if !f.fsid.known() {
		return "there is no connection to Ceph"
	}
	return ""
}

func api(f facts) string {
	if !f.cluster.version.known() {
		return "the API server does not answer"
	}
	return ""
}

// decide makes the report's lines.
func decide(config Config, f facts) []Line {
	rows := checks
	for _, d := range config.Drivers {
		rows = append(rows[:len(rows):len(rows)], driverChecks(d)...)
	}
	if config.Cluster != nil {
		rows = append(rows[:len(rows):len(rows)], clusterChecks...)
	}
	var lines []Line
	for _, row := range rows {
		if missing := row.needs(f); missing != "" {
			lines = append(lines, Line{Group: row.group, Name: row.name, State: Unknown, Message: "not looked at: " + missing})
			continue
		}
		for _, line := range row.decide(config, f) {
			line.Group = row.group
			lines = append(lines, f.cluster.forCluster(line))
		}
	}
	return lines
}

func right(name, format string, arguments ...any) Line {
	return Line{Name: name, State: OK, Message: fmt.Sprintf(format, arguments...)}
}

func wrong(name, message string, fix ...string) Line {
	return Line{Name: name, State: Wrong, Message: message, Fix: fix}
}

func note(name, message string, fix ...string) Line {
	return Line{Name: name, State: Note, Message: message, Fix: fix}
}

func unknown(name, message string) Line {
	return Line{Name: name, State: Unknown, Message: message}
}
