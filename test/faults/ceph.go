package faults

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	corev1 "k8s.io/api/core/v1"
)

// preload is what a program is preloaded with.
//
//go:embed preload/ceph.c
var preload []byte

// Call is what happens to one call that changes something in Ceph, in preload's words.
type Call string

const (
	// Refused calls are not made, and get an errno.
	Refused Call = "refused"
	// Hanging calls are not made, and get no answer for Silence; Belated ones are made after Delay.
	Hanging Call = "hangs"
	Belated Call = "late"
	// Lost is the answer of a call that is made.
	Lost Call = "lost"
	// KilledBefore and KilledAfter end the program.
	KilledBefore Call = "before"
	KilledAfter  Call = "after"
)

const (
	// Silence is longer than anybody waits here for how a change ends: who waits for the answer has no deadline.
	Silence = 240
	// Delay is longer than any deadline of a controller for Ceph.
	Delay = 50
)

// OfCeph are the faults of calls to Ceph.
var OfCeph = []Fault{
	{Name: "Ceph: killed before", Call: KilledBefore, Ends: true},
	{Name: "Ceph: killed after", Call: KilledAfter, Ends: true},
	{Name: "Ceph: killed before each 8th", Call: KilledBefore, Ends: true, Each: 8},
	{Name: "Ceph: killed after each 8th", Call: KilledAfter, Ends: true, Each: 8},
	{Name: "Ceph: answer lost", Call: Lost},
	{Name: "Ceph: denied", Call: Refused, Number: int(syscall.EACCES)},
	{Name: "Ceph: busy", Call: Refused, Number: int(syscall.EBUSY)},
	{Name: "Ceph: try again", Call: Refused, Number: int(syscall.EAGAIN)},
	{Name: "Ceph: hangs", Call: Hanging, Number: Silence},
	{Name: "Ceph: late", Call: Belated, Number: Delay},
}

const (
	libraryFile = "ceph.so"
	writesFile  = "writes"
	planFile    = "plan"
)

// Calls are those of one program, which may be started again, that change something in Ceph.
type Calls struct {
	dir   string
	armed int
}

// Preload builds what such a program is preloaded with, in a folder that the program's user can get to.
func Preload(dir string) (*Calls, error) {
	ofCeph, ofClock, c := filepath.Join(dir, "ceph.c"), filepath.Join(dir, "clock.c"), &Calls{dir: dir}
	err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(ofCeph, preload, 0o644), os.WriteFile(ofClock, preloadClock, 0o644), c.Jump(0), os.WriteFile(filepath.Join(dir, planFile), nil, 0o644), os.WriteFile(filepath.Join(dir, writesFile), nil, 0o666),
		// The program is another user, whatever the umask.
		os.Chmod(dir, 0o755), os.Chmod(filepath.Join(dir, writesFile), 0o666))
	if err != nil {
		return nil, fmt.Errorf("folder for faults of Ceph: %w", err)
	}
	if out, err := exec.Command("gcc", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", "-o", filepath.Join(dir, libraryFile), ofCeph, ofClock, "-ldl").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building preload/*.c: %w: %s", err, out)
	}
	return c, nil
}

// Environment is what a program on this machine needs.
func (c *Calls) Environment() []string {
	return []string{"LD_PRELOAD=" + filepath.Join(c.dir, libraryFile), "CEPH_FAULTS=" + c.dir}
}

// Into puts it into a pod of a node whose root is the folder above: the only thing that the pod has beside what its Deployment says.
func (c *Calls) Into(pod *corev1.Pod) {
	const name = "ceph-faults"
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: filepath.Base(c.dir)}}})
	container := &pod.Spec.Containers[0]
	at := "/" + name
	container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: at})
	container.Env = append(container.Env, corev1.EnvVar{Name: "LD_PRELOAD", Value: filepath.Join(at, libraryFile)}, corev1.EnvVar{Name: "CEPH_FAULTS", Value: at})
}

// Node is the root of the node that Into's pod is on.
func (c *Calls) Node() string { return filepath.Dir(c.dir) }

// Arm forgets the writes, and has the fault happen at the one of that number, from 1; 0 is none.
func (c *Calls) Arm(fault Fault, at int) error {
	c.armed = at
	text := ""
	if at > 0 && fault.Call != "" {
		text = fmt.Sprintf("%d %s %d %d\n", at, fault.Call, fault.Number, fault.Each)
	}
	// The plan goes first and comes last: no other write is to be taken for the one.
	return errors.Join(os.WriteFile(filepath.Join(c.dir, planFile), nil, 0o644), os.WriteFile(filepath.Join(c.dir, writesFile), nil, 0o666), os.WriteFile(filepath.Join(c.dir, planFile), []byte(text), 0o644))
}

// Writes are those since the last Arm.
func (c *Calls) Writes() ([]string, error) {
	text, err := os.ReadFile(filepath.Join(c.dir, writesFile))
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")[:strings.Count(string(text), "\n")], err
}

// Hit is the write that the fault has happened at, if any.
func (c *Calls) Hit() (string, error) {
	writes, err := c.Writes()
	if err != nil || c.armed < 1 || len(writes) < c.armed {
		return "", err
	}
	return writes[c.armed-1], nil
}
