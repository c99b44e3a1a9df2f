package ceph

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// VolumeHandle is what ceph-csi wrote into the handle of a volume or snapshot it made.
type VolumeHandle struct {
	// ClusterID is the clusterID of the StorageClass, which is the Ceph cluster's fsid unless
	// somebody else's config.json names it otherwise. Of migrated volumes it is a hash.
	ClusterID string
	// LocationID is the ID of the pool of an image, or of the filesystem of a subvolume.
	// Migrated volumes have none.
	LocationID int64
	// UUID is the part of the image's or subvolume's name that stands in the journal.
	UUID string
	// Pool is the name of the pool of an image that was migrated from Kubernetes' in-tree plugin.
	Pool string
}

const (
	handleVersion  = "0001-"
	migratedHandle = "mig_mons-"
	uuidLength     = 36
	locationLength = 16
	// maxHandle is the longest handle that CSI allows.
	maxHandle = 128
)

// errNoHandle is the ordinary case of a volume that an administrator made: its handle is
// any name.
var errNoHandle = errors.New("is not a volume handle of ceph-csi")

// ParseVolumeHandle reads "0001-<length>-<clusterID>-<location>-<UUID>", with length and
// location in hexadecimal digits, and the form of migrated volumes,
// "mig_mons-<hash>_image-<UUID>_<pool in hexadecimal>".
func ParseVolumeHandle(handle string) (VolumeHandle, error) {
	if len(handle) > maxHandle {
		return VolumeHandle{}, fmt.Errorf("%s %w", quote(handle), errNoHandle)
	}
	parsed, ok := parseHandle(handle)
	if !ok {
		parsed, ok = parseMigratedHandle(handle)
	}
	if !ok {
		return VolumeHandle{}, fmt.Errorf("%s %w", quote(handle), errNoHandle)
	}
	return parsed, nil
}

// parseHandle makes no garbage: it is called for each of thousands of volumes.
func parseHandle(handle string) (VolumeHandle, bool) {
	const lengthDigits = 4
	rest, ok := strings.CutPrefix(handle, handleVersion)
	if !ok || len(rest) < lengthDigits+1 || rest[lengthDigits] != '-' {
		return VolumeHandle{}, false
	}
	length, ok := hexadecimal(rest[:lengthDigits])
	rest = rest[lengthDigits+1:]
	if !ok || length == 0 || int64(len(rest)) != length+1+locationLength+1+uuidLength {
		return VolumeHandle{}, false
	}
	clusterID, rest := rest[:length], rest[length:]
	location, uuid := rest[1:1+locationLength], rest[2+locationLength:]
	if rest[0] != '-' || rest[1+locationLength] != '-' {
		return VolumeHandle{}, false
	}
	id, ok := hexadecimal(location)
	return VolumeHandle{ClusterID: clusterID, LocationID: id, UUID: uuid}, ok
}

// hexadecimal reads digits alone: strconv takes signs as well.
func hexadecimal(digits string) (int64, bool) {
	if digits == "" || digits[0] == '+' || digits[0] == '-' {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 16, 64)
	return n, err == nil
}

func parseMigratedHandle(handle string) (VolumeHandle, bool) {
	rest, ok := strings.CutPrefix(handle, migratedHandle)
	if !ok {
		return VolumeHandle{}, false
	}
	fields := strings.Split(rest, "_")
	if len(fields) != 3 || fields[0] == "" {
		return VolumeHandle{}, false
	}
	image, ok := strings.CutPrefix(fields[1], "image-")
	pool, err := hex.DecodeString(fields[2])
	if !ok || image == "" || err != nil || len(pool) == 0 {
		return VolumeHandle{}, false
	}
	return VolumeHandle{ClusterID: fields[0], UUID: image, Pool: string(pool)}, true
}
