package driver

import (
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

const (
	poolMust       = `a name without spaces, quotes and the characters / @ ,`
	poolPattern    = `^[^\s/@,"'\\]+$`
	optionsMust    = "options without spaces, none of which names a user or a key"
	optionsPattern = `^\S+$`
	secretPattern  = `(^|[,:;])(name|user|id|secret|secretfile|key|keyfile|keyring)=`
	labelMust      = "a Kubernetes namespace"
	labelPattern   = `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	objectPattern  = `^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`

	maxName    = 128
	maxOptions = 1024
	maxLabel   = 63
	maxObject  = 253
	maxKey     = maxObject + 1 + maxLabel
)

var (
	poolText      = Text{Pattern: poolPattern, MaxLength: maxName, Allowed: poolMust}
	optionsText   = Text{Pattern: optionsPattern, Never: secretPattern, MaxLength: maxOptions, Allowed: optionsMust}
	namespaceText = Text{Pattern: labelPattern, MaxLength: maxLabel, Allowed: labelMust}
)

// commonFields are set in the ClusterCSIDrivers of both drivers.
var commonFields = []Field{
	{
		Name: "cluster",
		Doc:  "cluster is the fsid of the Ceph cluster that the default classes use. Without it, it is the only one that is declared. Naming another one than before is the consent to move there: the volumes in the one before are then neither mounted anew, expanded nor deleted until it is named again.",
		Text: Text{Pattern: `^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`, MaxLength: 36, Allowed: "an fsid as `ceph fsid` prints it"},
	},
	{
		Name: "credentials",
		Doc:  "credentials is how the driver gets its Ceph users. Mint makes users of its own with few rights, Passthrough gives it the declared one. Auto, the default, mints where the declared user may.",
		Text: Text{Enum: []string{string(CredentialsAuto), string(CredentialsMint), string(CredentialsPassthrough)}},
	},
	podsField("controller", "controller is where the pods of the controllers run, and with what. By default they run on masters, where there are any.", ControllerContainers),
	{
		Name: "imageProtection",
		Doc:  "imageProtection keeps the volumes of disk images of virtual machines from removal, for as long as the image exists, while it is Enabled. The default is Disabled.",
		Text: Text{Enum: []string{ImagesUnprotected, ImagesProtected}},
	},
	{
		Name: "kernelModules",
		Doc:  "kernelModules says when nodes load the kernel's modules for Ceph. OnDemand, the default, is with the first volume. AtBoot has a MachineConfig, or a CloudInit on Harvester, load them; changing it restarts nodes.",
		Text: Text{Enum: []string{ModulesOnDemand, ModulesAtBoot}},
	},
	{
		Name: "keyType",
		Doc:  "keyType is the type of the keys of Ceph users that the operator makes. Without it, it is aes where the Ceph cluster allows that, which all clients know. Changing it gives the users other keys: mounted volumes have to be mounted anew.",
		Text: Text{Enum: []string{string(ceph.AES), string(ceph.AES256)}},
	},
	{
		Name: "missingPools",
		Doc:  "missingPools says what happens to pools that this object or a StorageClass of the driver names and Ceph lacks. Report, the default, tells of them; Create creates them.",
		Text: Text{Enum: []string{MissingReport, MissingCreate}},
	},
	podsField("node", "node is where the node pods run, and with what. By default they run on all Linux nodes, whatever their taints. Volumes can be mounted nowhere else.", NodeContainers),
	{
		Name: "outOfBand",
		Doc:  "outOfBand are ConfigMaps with the config.json of drivers that others have deployed. Their mon addresses are kept current.",
		Members: []Field{
			{Name: "namespace", Doc: "namespace of the ConfigMap.", Text: namespaceText},
			{Name: "configMap", Doc: "configMap is its name.", Text: Text{
				Pattern: objectPattern, MaxLength: maxObject, Allowed: "the name of a ConfigMap",
			}},
		},
		MaxItems: 16,
	},
	{
		Name: "poolProtection",
		Doc:  "poolProtection keeps pools in use from removal while it is Enabled, the default.",
		Text: Text{Enum: []string{PoolsProtected, PoolsUnprotected}},
	},
	{
		Name: "readAffinity",
		Doc:  "readAffinity are node labels that name a node's place in the CRUSH map. With them, clients prefer to read from OSDs nearby.",
		Text: Text{
			Pattern: `^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`, MaxLength: maxKey,
			Allowed: "the key of a node label",
		},
		MaxItems: 16,
	},
	{
		Name: "rookNamespace",
		Doc:  "rookNamespace is the namespace where Rook's Secret rook-ceph-mon and ConfigMap rook-ceph-mon-endpoints declare the Ceph cluster.",
		Text: namespaceText,
	},
	{
		Name: "withdrawAfter",
		Doc:  "withdrawAfter is how long pools keep their protection, and the driver's Ceph users their rights, after the last use was seen. It is the time between two looks past all caches. The default is 10m.",
		Text: Text{Pattern: `^[1-9][0-9]{0,4}[smh]$`, MaxLength: 6, Allowed: "a time such as 90s, 10m or 24h"},
	},
}

// imageFields are those of RBD alone.
var imageFields = []Field{
	{
		Name: "dataPool",
		Doc:  "dataPool is an erasure-coded pool for the data of images, beside a replicated pool.",
		Text: poolText,
	},
	{
		Name: "imageFeatures",
		Doc:  "imageFeatures are the features of new images, separated by commas. The default is layering,exclusive-lock,object-map,fast-diff,deep-flatten.",
		Text: Text{
			Pattern: "^" + feature + "(," + feature + ")*$", MaxLength: maxName,
			Allowed: "some of " + strings.ReplaceAll(features, "|", ", ") + ", separated by commas",
		},
	},
	{
		Name: mapOptionsParameter,
		Doc:  "mapOptions are passed to the client that maps images: krbd:<options>;nbd:<options>.",
		Text: Text{
			Pattern: `^((krbd|nbd):[^;\s]+|[^;:\s]+)(;((krbd|nbd):[^;\s]+|[^;:\s]+))?$`, Never: secretPattern, MaxLength: maxOptions,
			Allowed: "of the form krbd:<options>;nbd:<options>, none of which names a user or a key",
		},
	},
	{
		Name: "mounter",
		Doc:  "mounter is the client that maps volumes: rbd, the kernel's and the default, or rbd-nbd for images; kernel or fuse for CephFS.",
		Text: Text{Enum: []string{"rbd", nbdMounter}},
	},
	{
		Name: "pool",
		Doc:  "pool of the default StorageClass. Without it, the operator uses the one in use or makes one of its own.",
		Text: poolText,
	},
}

// subvolumeFields are those of CephFS alone.
var subvolumeFields = []Field{
	{
		Name: "filesystem",
		Doc:  "filesystem of the default StorageClass. Without it, it is the only one there is.",
		Text: Text{Pattern: `^[A-Za-z0-9_.-]+$`, MaxLength: maxName, Allowed: "the name of a filesystem: letters, digits and the characters _ . -"},
	},
	{
		Name: "fuseMountOptions",
		Doc:  "fuseMountOptions are passed to ceph-fuse.",
		Text: optionsText,
	},
	{
		Name: kernelMountOptionsParameter,
		Doc:  "kernelMountOptions are passed to the kernel's client, separated by commas.",
		Text: optionsText,
	},
	{
		Name: "mounter",
		Doc:  "mounter is the client that maps volumes: rbd, the kernel's and the default, or rbd-nbd for images; kernel or fuse for CephFS.",
		Text: Text{Enum: []string{"kernel", fuseMounter}},
	},
	{
		Name: "subvolumeGroup",
		Doc:  "subvolumeGroup has the driver's volumes. The default is the one that is in use; else one of the cluster's own, named after its infra ID, where the operator makes the driver's users, and csi where not.",
		Text: Text{
			Pattern: `^[A-Za-z0-9][A-Za-z0-9_.-]*$`, MaxLength: maxName,
			Allowed: "a name of letters, digits and the characters _ . -, beginning with a letter or a digit",
		},
	},
}

const (
	features = "layering|exclusive-lock|object-map|fast-diff|deep-flatten|" + journal
	feature  = "(" + features + ")"
	journal  = "journaling"
)

// DropJournal takes the journal from the features in parameters of a StorageClass whose images the kernel maps: ceph-csi
// refuses to make one with it (validateImageFeatures, internal/rbd/rbd_util.go).
func DropJournal(parameters map[string]string) {
	listed, named := parameters[featuresParameter]
	if !named {
		return
	}
	kept := slices.DeleteFunc(strings.Split(listed, ","), func(f string) bool { return f == journal })
	parameters[featuresParameter] = strings.Join(kept, ",")
}

// imageRules are what Ceph and ceph-csi demand of features.
var imageRules = []Rule{
	needs("object-map", "exclusive-lock"),
	needs("fast-diff", "object-map"),
	needs(journal, "exclusive-lock"),
	{
		Field:   "imageFeatures",
		CEL:     "!has(self.imageFeatures) || !self.imageFeatures.contains('" + journal + "') || has(self.mounter) && self.mounter == 'rbd-nbd'",
		Message: "may have " + journal + " only with mounter rbd-nbd: the kernel does not support it",
		holds: func(s Settings) bool {
			return !strings.Contains(s.ImageFeatures, journal) || s.Mounter == nbdMounter
		},
	},
}

func needs(feature, other string) Rule {
	return Rule{
		Field:   "imageFeatures",
		CEL:     "!has(self.imageFeatures) || !self.imageFeatures.contains('" + feature + "') || self.imageFeatures.contains('" + other + "')",
		Message: "must have " + other + " beside " + feature,
		holds: func(s Settings) bool {
			return !strings.Contains(s.ImageFeatures, feature) || strings.Contains(s.ImageFeatures, other)
		},
	}
}
