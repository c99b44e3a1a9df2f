// Package wire is what the embedded cluster and the program that runs real nodes as root, test/cluster/node/nodehost,
// tell each other: JSON, one value per line, on the program's standard input and output.
package wire

// Member is a node of the cluster.
type Member struct {
	Name string `json:"name"`
	// Address is the node's own, Pods the range of its pods' addresses.
	Address string `json:"address"`
	Pods    string `json:"pods"`
}

// Network is the first thing that the program says.
type Network struct {
	// Gateway is this machine's address as the nodes and their pods see it.
	Gateway string `json:"gateway"`
	// Pods is the range of all pods' addresses.
	Pods    string   `json:"pods"`
	Members []Member `json:"members"`
}

// Image is an archive and the sandboxes' or containers' image that it holds.
type Image struct {
	Name string `json:"name"`
	File string `json:"file"`
}

// Software is what every node runs. All files must be readable for root.
type Software struct {
	Kubelet   string `json:"kubelet"`
	KubeProxy string `json:"kubeProxy"`
	DNS       string `json:"dns"`
	// Sandbox is the name of the image of pods' sandboxes, which is one of Images.
	Sandbox string  `json:"sandbox"`
	Images  []Image `json:"images"`
}

// Credentials are the files by which a node and the API server know each other.
type Credentials struct {
	ClientCA      string `json:"clientCA"`
	ServingCert   string `json:"servingCert"`
	ServingKey    string `json:"servingKey"`
	Kubelet       string `json:"kubelet"`
	KubeProxy     string `json:"kubeProxy"`
	DNS           string `json:"dns"`
	ClusterDNS    string `json:"clusterDNS"`
	ClusterDomain string `json:"clusterDomain"`
}

// Request asks for one thing: one member is set.
type Request struct {
	// Boot are nodes to start at the same time.
	Boot []Boot `json:"boot,omitempty"`
	// Halt is the name of a node that loses its power.
	Halt string `json:"halt,omitempty"`
	Link *Link  `json:"link,omitempty"`
	Run  *Run   `json:"run,omitempty"`
}

// Link pulls a node's cable, or puts it back.
type Link struct {
	Node string `json:"node"`
	Up   bool   `json:"up"`
}

// Boot starts a node, which is halted or was never started. The answer comes when its services run.
type Boot struct {
	Node        string      `json:"node"`
	Software    Software    `json:"software"`
	Credentials Credentials `json:"credentials"`
}

// Run runs a command in a node, as its administrator would.
type Run struct {
	Node    string   `json:"node"`
	Command []string `json:"command"`
}

// Answer is what a request came to.
type Answer struct {
	Error  string `json:"error,omitempty"`
	Output string `json:"output,omitempty"`
}

// Node is all that the processes of one node are told, in a file.
type Node struct {
	Member      Member      `json:"member"`
	Network     Network     `json:"network"`
	Software    Software    `json:"software"`
	Credentials Credentials `json:"credentials"`
	// Cluster is the folder of the cluster's state, Logs one for logs, Dir that of this node alone.
	Cluster string `json:"cluster"`
	Logs    string `json:"logs"`
	Dir     string `json:"dir"`
	// Cgroup is the name of the node's cgroup in each hierarchy.
	Cgroup string `json:"cgroup"`
}
