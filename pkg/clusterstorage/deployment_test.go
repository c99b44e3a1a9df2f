package clusterstorage

import (
	"strings"
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/assets"
)

// filled is a starter whose environment has everything that Deployments need.
func filled() starter {
	images := map[string]string{}
	for _, name := range assets.RequiredImages() {
		if name != "DRIVER_IMAGE" {
			images[name] = "registry.example.com/" + strings.ToLower(name) + ":1"
		}
	}
	env := map[string]string{
		"CEPH_CSI_DRIVER_OPERATOR_IMAGE": "registry.example.com/operator:1", "CEPH_CSI_DRIVER_IMAGE": "registry.example.com/driver:1",
		"OPERATOR_IMAGE_VERSION": "4.23.0",
	}
	return starter{
		Options: Options{Assets: assets.Operator, Images: images, Getenv: func(name string) string { return env[name] }},
		clients: &clients{},
	}
}

func TestRender(t *testing.T) {
	s := filled()
	for _, o := range s.operators() {
		d, err := s.render(o, operatorv1.Debug)
		if err != nil {
			t.Fatal(err)
		}
		c := d.Spec.Template.Spec.Containers[0]
		if d.Name != o.driver.OperatorName() || c.Image != "registry.example.com/operator:1" || c.Args[2] != "-v=4" {
			t.Errorf("%s: image %s, arguments %q", d.Name, c.Image, c.Args)
		}
		for _, v := range c.Env {
			if v.Name == "DRIVER_IMAGE" && v.Value != "registry.example.com/driver:1" || strings.Contains(v.Value, "${") {
				t.Errorf("%s: %s=%s", d.Name, v.Name, v.Value)
			}
		}
	}
}

func TestRenderNamesWhatIsMissing(t *testing.T) {
	s := filled()
	delete(s.Images, "RESIZER_IMAGE")
	_, err := s.render(s.operators()[0], operatorv1.Normal)
	if err == nil || !strings.Contains(err.Error(), "${RESIZER_IMAGE}") {
		t.Errorf("a placeholder must never reach the API server: %v", err)
	}
}

func deploymentWith(change func(*appsv1.Deployment)) *appsv1.Deployment {
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "d", Generation: 2},
		Spec:       appsv1.DeploymentSpec{Replicas: ptr.To(int32(1))},
		Status:     appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1},
	}
	change(d)
	return d
}

func reports(kind appsv1.DeploymentConditionType, status, reason string) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) {
		d.Status.AvailableReplicas, d.Status.UnavailableReplicas = 0, 1
		d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{Type: kind, Status: "True", Reason: reason, Message: "why"})
		if status == "False" {
			d.Status.Conditions[0].Status = "False"
		}
	}
}

func TestRolloutAndHealth(t *testing.T) {
	tests := map[string]struct {
		reason      string
		deployment  *appsv1.Deployment
		progressing operatorv1.ConditionStatus
		healthy     bool
	}{
		"Done":       {"all pods run", deploymentWith(func(*appsv1.Deployment) {}), no, true},
		"NotSeen":    {"the change has not been acted on", deploymentWith(func(d *appsv1.Deployment) { d.Generation = 3 }), yes, true},
		"Old":        {"a pod is replaced", deploymentWith(func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 0 }), yes, true},
		"Starting":   {"the pod is not ready yet", deploymentWith(func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 0 }), yes, true},
		"NodeReboot": {"a rollout was complete: a missing pod is no rollout", deploymentWith(reports(appsv1.DeploymentProgressing, "True", "NewReplicaSetAvailable")), no, true},
		"BackAgain": {"the template is one that it had before: the condition is of the former rollout", deploymentWith(func(d *appsv1.Deployment) {
			reports(appsv1.DeploymentProgressing, "True", "NewReplicaSetAvailable")(d)
			d.Status.Replicas, d.Status.UpdatedReplicas = 1, 0
		}), yes, true},
		"Stuck":   {"the pod does not come up", deploymentWith(reports(appsv1.DeploymentProgressing, "False", "ProgressDeadlineExceeded")), yes, false},
		"Refused": {"pods cannot be created", deploymentWith(reports(appsv1.DeploymentReplicaFailure, "True", "FailedCreate")), yes, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := rollout("P", tc.deployment); *got.Status != tc.progressing || *got.Type != "PProgressing" {
				t.Errorf("%s: %s=%s %s", tc.reason, *got.Type, *got.Status, *got.Message)
			}
			if err := unhealthy(tc.deployment); (err == nil) != tc.healthy || err != nil && !strings.Contains(err.Error(), "why") {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}

func TestServingConfig(t *testing.T) {
	custom := &configv1.TLSSecurityProfile{Type: configv1.TLSProfileCustomType, Custom: &configv1.CustomTLSProfile{TLSProfileSpec: configv1.TLSProfileSpec{
		MinTLSVersion: configv1.VersionTLS11, Ciphers: []string{"ECDHE-RSA-AES128-GCM-SHA256"},
	}}}
	tests := map[string]struct {
		profile *configv1.TLSSecurityProfile
		want    []string
	}{
		"None":    {nil, []string{"minTLSVersion: VersionTLS12", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"}},
		"Modern":  {&configv1.TLSSecurityProfile{Type: configv1.TLSProfileModernType}, []string{"minTLSVersion: VersionTLS13"}},
		"Custom":  {custom, []string{"minTLSVersion: VersionTLS11", "- TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256\n"}},
		"Unknown": {&configv1.TLSSecurityProfile{Type: "New"}, []string{"minTLSVersion: VersionTLS12"}},
	}
	for name, tc := range tests {
		got, err := servingConfig(tc.profile)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range append(tc.want, "kind: GenericOperatorConfig") {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, got)
			}
		}
	}
}
