package volumes

import (
	"encoding/json"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// RestoreSubvolume makes a volume of a snapshot, which may be another cluster's: a full copy.
func (c *Cluster) RestoreSubvolume(s *SubvolumeSnapshot, class FileClass, claim string) (*Subvolume, error) {
	v, err := c.ReservedSubvolume(class, claim)
	if err != nil {
		return nil, err
	}
	if err := v.copyFrom(s.Source, s.Name); err != nil {
		return nil, err
	}
	if err := v.awaitCopy(); err != nil {
		return nil, err
	}
	return v, v.tag(v.request.tags)
}

// CloneSubvolume makes a volume of a volume, which may be another cluster's: a full copy.
func (c *Cluster) CloneSubvolume(source *Subvolume, claim string) (*Subvolume, error) {
	v, err := c.beginClone(source, claim)
	if err != nil {
		return nil, err
	}
	if err := v.copyFrom(source, v.Name); err != nil {
		return nil, err
	}
	if err := v.awaitCopy(); err != nil {
		return nil, err
	}
	if err := v.removeCopied(source); err != nil {
		return nil, err
	}
	return v, v.tag(v.request.tags)
}

// removeCopied removes the snapshot that a clone was copied from. The mgr calls the copy complete a moment before the
// snapshot stops waiting for it (seen with Ceph 16.2.15: "has pending clones").
func (v *Subvolume) removeCopied(source *Subvolume) error {
	deadline := time.Now().Add(copyPatience)
	for ; ; <-time.After(50 * time.Millisecond) {
		err := source.ask("fs subvolume snapshot rm", map[string]any{"snap_name": v.Name})
		if !isAgain(err) || time.Now().After(deadline) {
			return err
		}
	}
}

// isAgain says that Ceph wants to be asked again.
func isAgain(err error) bool {
	var coded interface{ ErrorCode() int }
	return errors.As(err, &coded) && coded.ErrorCode() == -int(syscall.EAGAIN)
}

// beginClone makes a snapshot of the clone's name on the source.
func (c *Cluster) beginClone(source *Subvolume, claim string) (*Subvolume, error) {
	v, err := c.ReservedSubvolume(source.Class, claim)
	if err != nil {
		return nil, err
	}
	if err := source.ask("fs subvolume snapshot create", map[string]any{"snap_name": v.Name}); err != nil {
		return nil, err
	}
	return v, nil
}

// PendingRestore is RestoreSubvolume with the copy in flight. It needs HoldClones.
func (c *Cluster) PendingRestore(s *SubvolumeSnapshot, class FileClass, claim string) (*Subvolume, error) {
	v, err := c.ReservedSubvolume(class, claim)
	if err != nil {
		return nil, err
	}
	return v, v.holdCopy(s.Source, s.Name)
}

// PendingClone is CloneSubvolume with the copy in flight. It needs HoldClones.
func (c *Cluster) PendingClone(source *Subvolume, claim string) (*Subvolume, error) {
	v, err := c.beginClone(source, claim)
	if err != nil {
		return nil, err
	}
	return v, v.holdCopy(source, v.Name)
}

// holdCopy asks for a copy until one stays pending: the mgr may learn of HoldClones a little later.
func (v *Subvolume) holdCopy(source *Subvolume, snapshot string) error {
	for range 10 {
		if err := v.copyFrom(source, snapshot); err != nil {
			return err
		}
		held, err := v.staysPending()
		if err != nil || held {
			return err
		}
		if err := v.awaitCopy(); err != nil {
			return err
		}
		if err := v.ask("fs subvolume rm", map[string]any{"force": true}); err != nil {
			return err
		}
	}
	return fmt.Errorf("the clone %s does not stay pending: HoldClones must come first", v.Name)
}

func (v *Subvolume) staysPending() (bool, error) {
	for range 10 {
		state, err := v.copyState()
		if err != nil || state != "pending" {
			return false, err
		}
		<-time.After(50 * time.Millisecond)
	}
	return true, nil
}

func (v *Subvolume) copyFrom(source *Subvolume, snapshot string) error {
	return source.ask("fs subvolume snapshot clone", map[string]any{
		"snap_name": snapshot, "target_sub_name": v.Name, "target_group_name": v.Class.group(),
	})
}

// copyPatience is how long a copy of nearly nothing may take on a busy machine.
const copyPatience = 2 * time.Minute

// awaitCopy polls, as ceph-csi does with each retry of its caller.
func (v *Subvolume) awaitCopy() error {
	deadline := time.Now().Add(copyPatience)
	for ; ; <-time.After(50 * time.Millisecond) {
		state, err := v.copyState()
		if err != nil || state == "complete" {
			return err
		}
		if state == "failed" || time.Now().After(deadline) {
			return fmt.Errorf("the clone %s is %s", v.Name, state)
		}
	}
}

func (v *Subvolume) copyState() (string, error) {
	output, err := v.cluster.ceph.command("fs clone status", map[string]any{
		"vol_name": v.Class.Filesystem, "clone_name": v.Name, "group_name": v.Class.group(),
	})
	if err != nil {
		return "", err
	}
	var answer struct {
		Status struct {
			State string `json:"state"`
		} `json:"status"`
	}
	if err := json.Unmarshal(output, &answer); err != nil {
		return "", fmt.Errorf("fs clone status: %w", err)
	}
	return answer.Status.State, nil
}

// HoldClones has the mgr wait that long, in whole seconds, before it begins a copy. It is for the
// whole Ceph cluster; of copies that wait, four block all others.
func (c *Ceph) HoldClones(wait time.Duration) error {
	request := fmt.Sprintf(`{"prefix":"config set","who":"mgr","name":"mgr/volumes/snapshot_clone_delay","value":"%d"}`, int(wait.Seconds()))
	if _, status, err := c.conn.MonCommand([]byte(request)); err != nil {
		return fmt.Errorf("%s: %w: %s", request, err, status)
	}
	return nil
}
