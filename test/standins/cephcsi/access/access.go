// Package access is how ceph-csi comes to a Ceph cluster: config.json says where the mons are, the
// secrets of each call say as whom, and connections are kept.
package access

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

const (
	configFile  = "/etc/ceph-csi-config/config.json"
	cephConf    = "/etc/ceph/ceph.conf"
	cephKeyring = "/etc/ceph/keyring"
	keyFolder   = "/tmp/csi/keys"
)

// conf is what ceph-csi writes where there is none.
const conf = `[global]
auth_cluster_required = cephx
auth_service_required = cephx
auth_client_required = cephx
`

// WriteConf makes ceph.conf and an empty keyring, as ceph-csi does when it starts.
func WriteConf() error {
	if err := os.MkdirAll("/etc/ceph", 0o755); err != nil {
		return err
	}
	for name, content := range map[string]string{cephConf: conf, cephKeyring: ""} {
		if _, err := os.Stat(name); err == nil {
			continue
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Cluster is an entry of config.json.
type Cluster struct {
	ID       string   `json:"clusterID"`
	Monitors []string `json:"monitors"`
	RBD      struct {
		RadosNamespace    string `json:"radosNamespace"`
		MirrorDaemonCount int    `json:"mirrorDaemonCount"`
		Publisher         Secret `json:"controllerPublishSecretRef"`
	} `json:"rbd"`
	CephFS struct {
		SubvolumeGroup     string `json:"subvolumeGroup"`
		RadosNamespace     string `json:"radosNamespace"`
		KernelMountOptions string `json:"kernelMountOptions"`
		FuseMountOptions   string `json:"fuseMountOptions"`
		Publisher          Secret `json:"controllerPublishSecretRef"`
	} `json:"cephFS"`
}

// Find reads the entry of a cluster ID. The file is read with each call: it changes.
func Find(id string) (Cluster, error) {
	content, err := os.ReadFile(configFile)
	if err != nil {
		return Cluster{}, fmt.Errorf("failed to fetch monitor list using clusterID (%s): error fetching configuration for cluster ID %q: %w", id, id, err)
	}
	var clusters []Cluster
	if err := json.Unmarshal(content, &clusters); err != nil {
		return Cluster{}, fmt.Errorf("unmarshal failed (%w), raw buffer response: %s", err, content)
	}
	for _, c := range clusters {
		if c.ID != id {
			continue
		}
		if len(c.Monitors) == 0 {
			return Cluster{}, fmt.Errorf("empty monitor list for cluster ID (%s) in config", id)
		}
		return c, nil
	}
	return Cluster{}, fmt.Errorf("failed to fetch monitor list using clusterID (%s): missing configuration for cluster ID %q", id, id)
}

// Mons as Ceph's programs take them.
func (c Cluster) Mons() string { return strings.Join(c.Monitors, ",") }

// User is whom a call's secrets name. Its key lies in a file until Close.
type User struct{ ID, KeyFile string }

// UserOf takes the fields that ceph-csi takes since 3.14: those of an administrator are the old ones.
func UserOf(secrets map[string]string) (User, error) {
	if len(secrets) == 0 {
		return User{}, status.Error(codes.InvalidArgument, "provided secret is empty")
	}
	id, key := secrets["userID"], secrets["userKey"]
	if id == "" {
		id, key = secrets["adminID"], secrets["adminKey"]
	}
	if id == "" {
		return User{}, status.Error(codes.InvalidArgument, "missing ID field 'userID' in secrets")
	}
	if key == "" {
		return User{}, status.Error(codes.InvalidArgument, "missing key field 'userKey' in secrets")
	}
	file, err := os.CreateTemp(keyFolder, "keyfile-")
	if err != nil {
		return User{}, status.Errorf(codes.Internal, "error creating a temporary keyfile: %v", err)
	}
	_, err = file.WriteString(key)
	if err := errors.Join(err, file.Close()); err != nil {
		return User{}, status.Errorf(codes.Internal, "error writing key to temporary keyfile: %v", errors.Join(err, os.Remove(file.Name())))
	}
	return User{ID: id, KeyFile: file.Name()}, nil
}

// Close removes the key's file.
func (u User) Close() { _ = os.Remove(u.KeyFile) }

// Session is one call's work with a cluster.
type Session struct {
	Cluster
	User User
	Ceph *volumes.Ceph
	done func()
}

// Open connects as the secrets say, or takes the connection that is open for the same mons, user
// and key.
func Open(clusterID string, secrets map[string]string) (*Session, error) {
	cluster, err := Find(clusterID)
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	user, err := UserOf(secrets)
	if err != nil {
		return nil, err
	}
	conn, done, err := connect(cluster.Mons(), user)
	if err != nil {
		user.Close()
		return nil, status.Errorf(codes.Internal, "failed to establish the connection: failed to get connection: %v", err)
	}
	ceph, err := volumes.On(conn)
	if err != nil {
		user.Close()
		done()
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &Session{Cluster: cluster, User: user, Ceph: ceph, done: done}, nil
}

// Close leaves the connection to the next call.
func (s *Session) Close() {
	s.Ceph.Release()
	s.User.Close()
	s.done()
}
