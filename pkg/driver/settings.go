package driver

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// DriverType is the value of spec.driverConfig.driverType that goes with the member ceph.
const DriverType = "Ceph"

const (
	// MemberPath is where an administrator sets Ceph's settings in a ClusterCSIDriver.
	MemberPath = "spec.driverConfig.ceph"
	// SettingsAnnotation of a ClusterCSIDriver has the same fields, as JSON or YAML. A stock CRD,
	// which drops the member, leaves annotations alone.
	SettingsAnnotation = "storage.openshift.io/ceph-settings"
)

// Why settings cannot be read.
var (
	// ErrInvalidSettings says that a field has a value that is not allowed; the text names
	// field, value and what is allowed.
	ErrInvalidSettings = errors.New("invalid settings")
	// ErrPrunedSettings says that a CRD which does not know the member ceph has dropped it.
	ErrPrunedSettings = errors.New("spec.driverConfig.ceph is missing although spec.driverConfig.driverType is " + DriverType)
)

// Values of missingPools, poolProtection, imageProtection and kernelModules. The first of each is the default.
const (
	MissingReport = "Report"
	MissingCreate = "Create"

	PoolsProtected   = "Enabled"
	PoolsUnprotected = "Disabled"

	ImagesUnprotected = "Disabled"
	ImagesProtected   = "Enabled"

	ModulesOnDemand = "OnDemand"
	ModulesAtBoot   = "AtBoot"
)

// Settings is what an administrator set in spec.driverConfig.ceph of a ClusterCSIDriver, field by field
// as people write it. Empty fields are not set.
type Settings struct {
	// Cluster is the fsid of the Ceph cluster that the default classes use.
	Cluster string
	// Pool and DataPool of the default RBD StorageClass.
	Pool, DataPool string
	// Filesystem and SubvolumeGroup of the default CephFS StorageClass.
	Filesystem, SubvolumeGroup string
	// ImageFeatures and MapOptions go into the default RBD StorageClass, KernelMountOptions and
	// FuseMountOptions into that of CephFS, Mounter into either, as ceph-csi's parameters of
	// those names.
	ImageFeatures, Mounter, MapOptions, KernelMountOptions, FuseMountOptions string
	// ReadAffinity are the node labels that name a node's place in the CRUSH map, for
	// config.json; none turns it off.
	ReadAffinity []string
	// MissingPools is MissingCreate where pools are to be made that settings or StorageClasses name and
	// Ceph lacks.
	MissingPools string
	// PoolProtection is PoolsUnprotected where pools shall not have the flag that keeps those in use
	// from removal.
	PoolProtection string
	// ImageProtection is ImagesProtected where volumes of disk images of virtual machines are kept from
	// removal.
	ImageProtection string
	// KernelModules is ModulesAtBoot where nodes load the kernel's modules when they start.
	KernelModules string
	// Credentials is how the driver gets its cephx users; empty is Auto.
	Credentials CredentialsMode
	// KeyType is the type of keys of users that are made; empty is what all clients understand.
	KeyType ceph.KeyType
	// OutOfBand are ConfigMaps of drivers that others deployed, to be kept current.
	OutOfBand []Target
	// RookNamespace is where Rook's objects declare the Ceph cluster; empty for nowhere.
	RookNamespace string
	// WithdrawAfter is how long what is no longer used keeps protection and rights; 0 is Withdrawal's choice.
	WithdrawAfter metav1.Duration
	// Controller and Node are where the pods of the two kinds run, and with what.
	Controller, Node Pods
}

// CreatesPools says whether pools are made that are asked for and missing.
func (s Settings) CreatesPools() bool { return s.MissingPools == MissingCreate }

// ProtectsPools says whether pools in use are kept from removal.
func (s Settings) ProtectsPools() bool { return s.PoolProtection != PoolsUnprotected }

// ProtectsImages says whether the volumes of disk images are kept from removal.
func (s Settings) ProtectsImages() bool { return s.ImageProtection == ImagesProtected }

// LoadsModules says whether nodes load the kernel's modules when they start.
func (s Settings) LoadsModules() bool { return s.KernelModules == ModulesAtBoot }

// withdrawAfter is the default of Settings.WithdrawAfter: longer than an API server or an etcd that
// is being restored takes to show all that it has, or a volume to become a PersistentVolume.
const withdrawAfter = 10 * time.Minute

// Withdrawal is how long what is no longer used keeps protection and rights.
func (s Settings) Withdrawal() time.Duration { return cmp.Or(s.WithdrawAfter.Duration, withdrawAfter) }

// CredentialsMode is a value of spec.driverConfig.ceph.credentials.
type CredentialsMode string

// The modes: Mint makes users of the driver's own, Passthrough gives it the operator's, Auto
// mints where the operator's user may.
const (
	CredentialsAuto        CredentialsMode = "Auto"
	CredentialsMint        CredentialsMode = "Mint"
	CredentialsPassthrough CredentialsMode = "Passthrough"
)

// Target is a ConfigMap with a config.json for ceph-csi.
type Target struct{ Namespace, ConfigMap string }

// Placement is the part of the settings that says where volumes go.
func (s Settings) Placement() ceph.Placement {
	return ceph.Placement{Pool: s.Pool, DataPool: s.DataPool, Filesystem: s.Filesystem, SubvolumeGroup: s.SubvolumeGroup}
}

// Member is spec.driverConfig.ceph of a ClusterCSIDriver as the API server gives it: the typed client
// drops what openshift/api does not know. It is nil where nothing is set; ErrPrunedSettings says that
// something was.
func Member(cr *unstructured.Unstructured) (map[string]any, error) {
	if cr == nil {
		return nil, nil
	}
	fields := cr.Object
	path := ""
	for _, name := range []string{"spec", "driverConfig", "ceph"} {
		path += name
		value := fields[name]
		if value == nil && name == "ceph" && fields["driverType"] == DriverType {
			return nil, ErrPrunedSettings
		}
		if value == nil {
			return nil, nil
		}
		next, ok := value.(map[string]any)
		if !ok {
			return nil, invalid(cr.GetName(), objection{path, value, "an object"}.String())
		}
		fields = next
		path += "."
	}
	return fields, nil
}

// ParseSettings reads the fields at a path of a driver's ClusterCSIDriver. Fields that no driver knows
// are a newer operator's and are ignored, those of the other driver are refused. An ErrInvalidSettings
// names every field that is wrong.
func ParseSettings(d Driver, path string, fields map[string]any) (Settings, error) {
	return d.parse(path, fields, false)
}

// ParseHandwritten is ParseSettings where no schema has dropped what nobody knows: such fields are wrong.
func ParseHandwritten(d Driver, path string, fields map[string]any) (Settings, error) {
	return d.parse(path, fields, true)
}

func (d Driver) parse(path string, fields map[string]any, strict bool) (Settings, error) {
	var wrong []string
	if strict {
		for _, o := range unknown(d.Fields, path, d.withoutOthers(fields)) {
			wrong = append(wrong, o.String())
		}
	}
	own := map[string]any{}
	for _, f := range d.Fields {
		value := fields[f.Name]
		if value == nil {
			continue
		}
		own[f.Name] = value
		for _, o := range f.check(path+"."+f.Name, value, strict) {
			wrong = append(wrong, o.String())
		}
	}
	for _, other := range All {
		for _, f := range other.Fields {
			if _, ours := own[f.Name]; ours || fields[f.Name] == nil || d.knows(f.Name) {
				continue
			}
			wrong = append(wrong, objection{path + "." + f.Name, fields[f.Name], "left out: it is a setting of " + other.Name}.String())
		}
	}
	if len(wrong) > 0 {
		return Settings{}, invalid(d.Name, wrong...)
	}
	s, err := decode(own)
	if err != nil {
		return Settings{}, err
	}
	for _, rule := range d.Rules {
		if !rule.holds(s) {
			return Settings{}, invalid(d.Name, fmt.Sprintf("%s.%s is %q, %s", path, rule.Field, fields[rule.Field], rule.Message))
		}
	}
	return s, nil
}

// withoutOthers are fields but for those of other drivers alone.
func (d Driver) withoutOthers(fields map[string]any) map[string]any {
	out := maps.Clone(fields)
	for _, other := range All {
		for _, f := range other.Fields {
			if !d.knows(f.Name) {
				delete(out, f.Name)
			}
		}
	}
	return out
}

func (d Driver) knows(field string) bool {
	return slices.ContainsFunc(d.Fields, func(f Field) bool { return f.Name == field })
}

func decode(fields map[string]any) (Settings, error) {
	text, err := json.Marshal(fields)
	if err != nil {
		return Settings{}, fmt.Errorf("encoding settings: %w", err)
	}
	var s Settings
	if err := json.Unmarshal(text, &s); err != nil {
		return Settings{}, fmt.Errorf("%w: %w", ErrInvalidSettings, err)
	}
	return s, nil
}

func invalid(cr string, wrong ...string) error {
	return fmt.Errorf("%w of ClusterCSIDriver %s: %s", ErrInvalidSettings, cr, strings.Join(wrong, "; "))
}
