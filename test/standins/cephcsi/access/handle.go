package access

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
)

// Handle is what a CSI handle of ceph-csi says: which cluster, the number of the pool or
// filesystem there, and the uuid in its journal.
type Handle struct {
	ClusterID string
	Location  int64
	UUID      string
}

const uuidLength = 36

// String is the handle.
func (h Handle) String() string {
	return fmt.Sprintf("0001-%04x-%s-%016x-%s", len(h.ClusterID), h.ClusterID, h.Location, h.UUID)
}

// ParseHandle reads one.
func ParseHandle(text string) (Handle, error) {
	invalid := errors.New("failed to decode CSI identifier, string underflow")
	if len(text) < 64 {
		return Handle{}, invalid
	}
	length, err := hex.DecodeString(text[5:9])
	if err != nil {
		return Handle{}, err
	}
	end := 10 + int(length[0])<<8 + int(length[1])
	if len(text) != end+1+16+1+uuidLength {
		return Handle{}, invalid
	}
	location, err := strconv.ParseInt(text[end+1:end+17], 16, 64)
	if err != nil {
		return Handle{}, err
	}
	return Handle{ClusterID: text[10:end], Location: location, UUID: text[end+18:]}, nil
}
