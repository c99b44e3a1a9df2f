package clusterstorage

import (
	"context"
	"fmt"
	"os"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	configclient "github.com/openshift/client-go/config/clientset/versioned"
	configinformers "github.com/openshift/client-go/config/informers/externalversions"
	operatorclient "github.com/openshift/client-go/operator/clientset/versioned"
	operatorinformers "github.com/openshift/client-go/operator/informers/externalversions"
	"github.com/openshift/library-go/pkg/controller/controllercmd"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/genericoperatorclient"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/servingcerts"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// resync is how often informers replay their caches; controllers have resyncs of their own.
const resync = 12 * time.Hour

// instance is the name of Storage and of the singletons of config.openshift.io.
const instance = "cluster"

var (
	storages   = operatorv1.GroupVersion.WithResource("storages")
	csiDrivers = operatorv1.GroupVersion.WithResource("clustercsidrivers")
)

// clients are the clients and informers of the process.
type clients struct {
	kube    kubernetes.Interface
	dynamic dynamic.Interface
	config  configclient.Interface
	storage v1helpers.OperatorClientWithFinalizers

	storageInstances dynamicinformer.DynamicSharedInformerFactory
	operators        operatorinformers.SharedInformerFactory
	configInformers  configinformers.SharedInformerFactory
	kubeInformers    v1helpers.KubeInformersForNamespaces
	// declarations have the Secrets that declare Ceph clusters, without what is in them.
	declarations []cache.SharedIndexInformer
	// certificates has the Secrets and ConfigMaps that servingcerts writes, whole.
	certificates informers.SharedInformerFactory
	// cso has the Deployment of CSO.
	cso informers.SharedInformerFactory
	// crds has CustomResourceDefinitions, trimmed by trimCRD.
	crds dynamicinformer.DynamicSharedInformerFactory
}

func newClients(cc *controllercmd.ControllerContext) (*clients, error) {
	warnings := rest.NewWarningWriter(os.Stderr, rest.WarningWriterOptions{Deduplicate: true})
	cc.KubeConfig.WarningHandler, cc.ProtoKubeConfig.WarningHandler = warnings, warnings
	cc.KubeConfig.UserAgent, cc.ProtoKubeConfig.UserAgent = driver.Program, driver.Program
	kube, err := kubernetes.NewForConfig(cc.ProtoKubeConfig)
	if err != nil {
		return nil, fmt.Errorf("creating the Kubernetes client: %w", err)
	}
	dyn, err := dynamic.NewForConfig(cc.KubeConfig)
	if err != nil {
		return nil, fmt.Errorf("creating the dynamic client: %w", err)
	}
	// Objects of config.openshift.io have no protobuf.
	json := rest.CopyConfig(cc.KubeConfig)
	json.ContentType, json.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	config, err := configclient.NewForConfig(json)
	if err != nil {
		return nil, fmt.Errorf("creating the config.openshift.io client: %w", err)
	}
	ops, err := operatorclient.NewForConfig(cc.KubeConfig)
	if err != nil {
		return nil, fmt.Errorf("creating the operator.openshift.io client: %w", err)
	}
	storage, instances, err := genericoperatorclient.NewClusterScopedOperatorClientWithConfigName(cc.Clock, cc.KubeConfig,
		storages, operatorv1.GroupVersion.WithKind("Storage"), instance, ctrl.AppliedSpec, ctrl.AppliedStatus)
	if err != nil {
		return nil, fmt.Errorf("creating the client of Storage %s: %w", instance, err)
	}
	crds := dynamicinformer.NewDynamicSharedInformerFactory(dyn, resync)
	if err := crds.ForResource(ctrl.CRDs).Informer().SetTransform(trimCRD); err != nil {
		return nil, fmt.Errorf("preparing the informer of CustomResourceDefinitions: %w", err)
	}
	declarations, err := watchDeclarations(kube)
	if err != nil {
		return nil, err
	}
	return &clients{
		kube: kube, dynamic: dyn, config: config, storage: storageClient{storage}, storageInstances: instances,
		operators:       operatorinformers.NewSharedInformerFactory(ops, resync),
		configInformers: configinformers.NewSharedInformerFactory(config, resync),
		kubeInformers:   v1helpers.NewKubeInformersForNamespaces(kube, "", driver.Namespace),
		declarations:    declarations,
		certificates: informers.NewSharedInformerFactoryWithOptions(kube, resync, informers.WithNamespace(driver.Namespace),
			informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = servingcerts.Label })),
		cso:  csoInformers(kube),
		crds: crds,
	}, nil
}

// start runs every informer that a controller has asked for.
func (c *clients) start(ctx context.Context) {
	for _, f := range []interface{ Start(<-chan struct{}) }{
		c.storageInstances, c.operators, c.configInformers, c.kubeInformers, c.certificates, c.cso, c.crds,
	} {
		f.Start(ctx.Done())
	}
	for _, i := range c.declarations {
		go i.Run(ctx.Done())
	}
}

// ns has the objects of the namespace.
func (c *clients) ns() informers.SharedInformerFactory {
	return c.kubeInformers.InformersFor(driver.Namespace)
}

// cluster has the cluster-scoped objects.
func (c *clients) cluster() informers.SharedInformerFactory { return c.kubeInformers.InformersFor("") }

// deciders are what decide reads.
func (c *clients) deciders() []factory.Informer {
	out := []factory.Informer{
		c.storage.Informer(),
		c.operators.Operator().V1().ClusterCSIDrivers().Informer(),
		c.ns().Apps().V1().Deployments().Informer(),
		c.cso.Apps().V1().Deployments().Informer(),
		c.crds.ForResource(ctrl.CRDs).Informer(),
	}
	for _, i := range c.declarations {
		out = append(out, i)
	}
	return out
}

// storageObject is Storage/cluster; nil where there is none.
func (c *clients) storageObject() *unstructured.Unstructured {
	object, err := c.storageInstances.ForResource(storages).Lister().Get(instance)
	if err != nil {
		return nil
	}
	storage, _ := object.(*unstructured.Unstructured)
	return storage
}

// crd is a CustomResourceDefinition as trimCRD leaves it; nil where there is none.
func (c *clients) crd(name string) *unstructured.Unstructured {
	object, err := c.crds.ForResource(ctrl.CRDs).Lister().Get(name)
	if err != nil {
		return nil
	}
	crd, _ := object.(*unstructured.Unstructured)
	return crd
}
