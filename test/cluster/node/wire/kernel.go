package wire

// KernelSocket is where a real node's stand-in for a kernel listens. Node pods of CSI drivers see the folder.
const KernelSocket = "/run/mount/kernel.sock"

// Started is what a program said that the stand-in for a kernel has run for a pod.
type Started struct {
	Output string `json:"output"`
	// Error is empty where it succeeded.
	Error string `json:"error"`
}
