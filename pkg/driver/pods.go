package driver

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
)

// Pods is what an administrator set for the pods of the controllers or of the nodes. Empty fields are not
// set.
type Pods struct {
	NodeSelector map[string]string
	Tolerations  []corev1.Toleration
	// Resources by container.
	Resources         map[string]corev1.ResourceRequirements
	PriorityClassName string
}

// ControllerContainers and NodeContainers are those of the pods of all drivers. A name that was here once
// stays, or settings that are in force would be invalid after an upgrade.
var (
	ControllerContainers = []string{
		Container, "csi-driver-metrics", "kube-rbac-proxy-driver", "csi-provisioner", "kube-rbac-proxy-provisioner",
		"csi-attacher", "kube-rbac-proxy-attacher", "csi-resizer", "kube-rbac-proxy-resizer",
		"csi-snapshotter", "kube-rbac-proxy-snapshotter", "csi-liveness-probe",
	}
	NodeContainers = []string{Container, "csi-node-driver-registrar", "csi-liveness-probe"}
)

const (
	subdomain       = `[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*`
	namePattern     = `^` + subdomain + `$`
	keyPattern      = `^(` + subdomain + `/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
	valuePattern    = `^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`
	quantityPattern = `^[0-9]{1,12}(\.[0-9]{1,3})?(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?$`
)

var (
	labelValueText = Text{Pattern: valuePattern, MaxLength: maxLabel, Allowed: "the value of a label", Empty: true}
	amounts        = Field{
		Optional: true,
		Keys:     Text{Enum: []string{string(corev1.ResourceCPU), string(corev1.ResourceMemory), string(corev1.ResourceEphemeralStorage)}},
		MaxKeys:  3,
		Text:     Text{Pattern: quantityPattern, MaxLength: 20, Allowed: "an amount such as 100m, 2, 512Mi or 1Gi", OrNumber: true},
	}
)

// podsField are the parts of a PodSpec that may be set for the pods with these containers.
func podsField(name, doc string, containers []string) Field {
	requests, limits := amounts, amounts
	requests.Name, requests.Doc = "requests", "requests are what is reserved for the container."
	limits.Name, limits.Doc = "limits", "limits are what the container may use at most."
	return Field{Name: name, Doc: doc, Members: []Field{
		{
			Name: "nodeSelector", Optional: true,
			Doc:  "nodeSelector are labels of the nodes that the pods run on. It takes the place of the default's label of masters.",
			Keys: Text{Pattern: keyPattern, MaxLength: maxKey, Allowed: "the key of a node label"}, MaxKeys: 16, Text: labelValueText,
		},
		{
			Name: "priorityClassName", Optional: true,
			Doc:  "priorityClassName is the name of the PriorityClass of the pods. It must exist.",
			Text: Text{Pattern: namePattern, MaxLength: maxObject, Allowed: "the name of a PriorityClass"},
		},
		{
			Name: "resources", Optional: true,
			Doc:  "resources are requests and limits by container. They take the place of the container's default ones.",
			Keys: Text{Enum: containers}, MaxKeys: len(containers), Members: []Field{limits, requests}, Rules: resourceRules,
		},
		{
			Name: "tolerations", Optional: true,
			Doc:      "tolerations of taints of nodes. They take the place of the default ones.",
			MaxItems: 16, Members: tolerationMembers, Rules: tolerationRules,
		},
	}}
}

var tolerationMembers = []Field{
	{
		Name: "effect", Optional: true, Doc: "effect of the taint; every one where it is left out.",
		Text: Text{Enum: []string{string(corev1.TaintEffectNoSchedule), string(corev1.TaintEffectPreferNoSchedule), string(corev1.TaintEffectNoExecute)}},
	},
	{
		Name: "key", Optional: true, Doc: "key of the taint; every one where it is left out.",
		Text: Text{Pattern: keyPattern, MaxLength: maxKey, Allowed: "the key of a taint"},
	},
	{
		Name: "operator", Optional: true, Doc: "operator is Equal, the default, or Exists, which tolerates every value.",
		Text: Text{Enum: []string{string(corev1.TolerationOpExists), string(corev1.TolerationOpEqual)}},
	},
	{
		Name: "tolerationSeconds", Optional: true, Doc: "tolerationSeconds is how long a taint with effect NoExecute is tolerated; for ever where it is left out.",
		Text: Text{Number: true, Allowed: "a number of seconds"},
	},
	{Name: "value", Optional: true, Doc: "value of the taint.", Text: labelValueText},
}

// What Kubernetes demands of tolerations and resources: a Deployment with others would be refused.
var (
	tolerationRules = []ObjectRule{
		tolerationRule("a toleration with a key, or with operator Exists",
			"has(self.key) || has(self.operator) && self.operator == 'Exists'",
			func(t corev1.Toleration) bool { return t.Key != "" || t.Operator == corev1.TolerationOpExists }),
		tolerationRule("a toleration without value where its operator is Exists",
			"!has(self.value) || self.value == '' || !has(self.operator) || self.operator != 'Exists'",
			func(t corev1.Toleration) bool { return t.Value == "" || t.Operator != corev1.TolerationOpExists }),
		tolerationRule("a toleration of effect NoExecute where it has tolerationSeconds",
			"!has(self.tolerationSeconds) || has(self.effect) && self.effect == 'NoExecute'",
			func(t corev1.Toleration) bool {
				return t.TolerationSeconds == nil || t.Effect == corev1.TaintEffectNoExecute
			}),
	}
	// In CEL, the cost of comparing amounts would be over what a CRD may cost.
	resourceRules = []ObjectRule{{
		Must: "resources whose requests are not above their limits",
		holds: func(object map[string]any) bool {
			var resources corev1.ResourceRequirements
			if decodeObject(object, &resources) != nil {
				return false
			}
			for name, request := range resources.Requests {
				if limit, limited := resources.Limits[name]; limited && request.Cmp(limit) > 0 {
					return false
				}
			}
			return true
		},
	}}
)

func tolerationRule(must, cel string, holds func(corev1.Toleration) bool) ObjectRule {
	return ObjectRule{CEL: cel, Must: must, holds: func(object map[string]any) bool {
		var toleration corev1.Toleration
		return decodeObject(object, &toleration) == nil && holds(toleration)
	}}
}

func decodeObject(object map[string]any, into any) error {
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
