// Package process runs the process of controllers: it serves probes and metrics, holds the lease, and
// keeps memory small.
package process

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	"github.com/openshift/library-go/pkg/authorization/hardcodedauthorizer"
	"github.com/openshift/library-go/pkg/config/client"
	"github.com/openshift/library-go/pkg/config/configdefaults"
	"github.com/openshift/library-go/pkg/config/serving"
	"github.com/openshift/library-go/pkg/controller/controllercmd"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/apiserver/pkg/authorization/union"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-base/logs"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/servingcerts"
)

// The rate of clients: library-go leaves client-go's 5 requests per second, with which the static
// resources alone need 9 seconds to settle.
const (
	ClientQPS   = 100
	ClientBurst = 200
)

// Process is what a long-running subcommand is started with.
type Process struct {
	// Name of the Deployment, the lease ("<name>-lock") and the event source.
	Name string
	// Identity of the lease's holder. The pod's name lets a killed container act again at once
	// instead of waiting 161 seconds for its own lease; empty means a random one.
	Identity string
	Version  string
	Flags    *controllercmd.ControllerFlags
	// Certificate names the Secret that the server's certificate is read from; empty where the pod
	// mounts one. What --config names goes first.
	Certificate string
}

// Run runs start as library-go's controllercmd does, but returns errors to the caller instead of
// ending with exit code 255, and releases the lease whenever it returns.
func (p Process) Run(ctx context.Context, start controllercmd.StartFunc) error {
	limitMemory(ctx, startTime, restTime)
	logs.InitLogs()
	defer logs.FlushLogs()
	info := version.Info{GitVersion: p.Version}
	config, err := loadConfig(ctx, p, info)
	if err != nil {
		return err
	}
	defer config.cleanup()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	context.AfterFunc(ctx, config.cleanup)

	changed := make(chan struct{})
	go func() {
		select {
		case <-changed:
			cancel()
		case <-ctx.Done():
		}
	}()
	served, led := make(chan error, 1), make(chan error, 1)
	go func() {
		if err := runServer(ctx, p, config, info); err != nil && ctx.Err() == nil {
			served <- err
		}
	}()
	go func() {
		led <- p.builder(func(ctx context.Context, c *controllercmd.ControllerContext) error {
			own := *c
			own.EventRecorder = lazily(ctx, c.EventRecorder)
			return p.elected(ctx, config.generic.LeaderElection, &own, start)
		}).
			WithVersion(info).
			WithRestartOnChange(changed, config.contents, config.watched...).
			Run(ctx, config.raw)
	}()
	select {
	case err := <-led:
		return err
	case err := <-served:
		cancel()
		<-led
		return err
	}
}

// builder is for what is controlled only: it would make the controllers wait for the two RSA
// keys of the server's loopback client. There must be no second one in the process: each
// appends to utilruntime.PanicHandlers, which has no lock.
func (p Process) builder(start controllercmd.StartFunc) *controllercmd.ControllerBuilder {
	overrides := &client.ClientConnectionOverrides{}
	overrides.QPS, overrides.Burst = ClientQPS, ClientBurst
	return controllercmd.NewController(p.Name, start, clock.RealClock{}).
		WithKubeConfigFile(p.Flags.KubeConfigFile, overrides).
		WithComponentNamespace(p.Flags.Namespace).
		WithComponentOwnerReference(&corev1.ObjectReference{
			APIVersion: "apps/v1", Kind: "Deployment", Namespace: p.Flags.Namespace, Name: p.Name,
		}).
		WithEventRecorderOptions(eventOptions())
}

// runServer answers probes and Prometheus, with the authorization of controllercmd's server:
// https://github.com/openshift/library-go/blob/master/pkg/controller/controllercmd/builder.go
func runServer(ctx context.Context, p Process, config loadedConfig, info version.Info) error {
	var certificate *servingcerts.Certificate
	if config.fromSecret {
		var err error
		if certificate, err = p.readCertificate(ctx); err != nil || ctx.Err() != nil {
			return err
		}
		config.generic.ServingInfo.CertInfo = configv1.CertInfo{}
	}
	built, err := serving.ToServerConfig(ctx, config.generic.ServingInfo, config.generic.Authentication, config.generic.Authorization,
		p.Flags.KubeConfigFile, nil, nil, false, false, &info)
	if err != nil {
		return fmt.Errorf("configuring the server of probes and metrics: %w", err)
	}
	if certificate != nil {
		built.SecureServing.Cert = certificate
	}
	built.Authorization.Authorizer = union.New(hardcodedauthorizer.NewHardCodedMetricsAuthorizer(), built.Authorization.Authorizer)
	server, err := built.Complete(nil).New(p.Name, genericapiserver.NewEmptyDelegate())
	if err != nil {
		return fmt.Errorf("building the server of probes and metrics: %w", err)
	}
	if err := server.PrepareRun().RunWithContext(ctx); err != nil {
		return fmt.Errorf("serving probes and metrics: %w", err)
	}
	return nil
}

// readCertificate waits for the certificate in the Secret that the process makes itself.
func (p Process) readCertificate(ctx context.Context) (*servingcerts.Certificate, error) {
	rest, err := client.GetKubeConfigOrInClusterConfig(p.Flags.KubeConfigFile, nil)
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig: %w", err)
	}
	kube, err := kubernetes.NewForConfig(rest)
	if err != nil {
		return nil, fmt.Errorf("creating the Kubernetes client: %w", err)
	}
	certificate, err := servingcerts.Follow(ctx, kube, p.Flags.Namespace, p.Certificate)
	if ctx.Err() != nil {
		return nil, nil
	}
	return certificate, err
}

// loadedConfig is the content of --config, completed with a serving certificate and defaults.
type loadedConfig struct {
	raw     *unstructured.Unstructured
	generic *operatorv1alpha1.GenericOperatorConfig
	// watched are files whose change ends the process; contents is what they held at start.
	watched  []string
	contents map[string][]byte
	// fromSecret has the certificate of Process.Certificate served.
	fromSecret bool
	// cleanup removes the serving certificate, if it was generated.
	cleanup func()
}

func loadConfig(ctx context.Context, p Process, info version.Info) (loadedConfig, error) {
	command := controllercmd.NewControllerCommandConfig(p.Name, info, nil, clock.RealClock{})
	if err := command.NewCommandWithContext(ctx).ParseFlags([]string{"--config=" + p.Flags.ConfigFile}); err != nil {
		return loadedConfig{}, err
	}
	out := loadedConfig{cleanup: func() {}}
	var content []byte
	var err error
	if out.raw, out.generic, content, err = command.Config(); err != nil {
		return loadedConfig{}, fmt.Errorf("--config: %w", err)
	}
	given := out.generic.ServingInfo.CertFile
	out.fromSecret = given == "" && p.Certificate != ""
	if out.fromSecret {
		out.contents = map[string][]byte{}
		if p.Flags.ConfigFile != "" {
			out.contents[p.Flags.ConfigFile], out.watched = content, []string{p.Flags.ConfigFile}
		}
	} else if out.contents, out.watched, err = command.AddDefaultRotationToConfig(out.generic, content); err != nil {
		return loadedConfig{}, fmt.Errorf("generating a serving certificate: %w", err)
	}
	if dir := filepath.Dir(out.generic.ServingInfo.CertFile); given == "" && filepath.Dir(dir) == filepath.Clean(os.TempDir()) {
		out.cleanup = func() { _ = os.RemoveAll(dir) }
	}
	if p.Flags.BindAddress != "" {
		out.generic.ServingInfo.BindAddress = p.Flags.BindAddress
	}
	// What OpenShift injects is the TLS profile alone. Only now, because a default certificate would
	// keep one from being generated where no Secret is mounted.
	configdefaults.SetRecommendedHTTPServingInfoDefaults(&out.generic.ServingInfo)
	for _, file := range p.Flags.TerminateOnFiles {
		if out.contents[file], err = os.ReadFile(file); err != nil {
			return loadedConfig{}, fmt.Errorf("--terminate-on-files: %w", err)
		}
		out.watched = append(out.watched, file)
	}
	return out, nil
}
