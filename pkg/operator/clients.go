package operator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
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
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	storageinformers "k8s.io/client-go/informers/storage/v1"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/credentials"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/infraid"
	"github.com/openshift/ceph-csi-driver-operator/pkg/nodes"
	"github.com/openshift/ceph-csi-driver-operator/pkg/settings"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
	"github.com/openshift/ceph-csi-driver-operator/pkg/tags"
	"github.com/openshift/ceph-csi-driver-operator/pkg/virtualization"
)

// resync is how often informers replay their caches; controllers have resyncs of their own.
const resync = 12 * time.Hour

// masterLabel marks the nodes of a dedicated control plane.
const masterLabel = "node-role.kubernetes.io/master"

// clients are the clients and informers of one operator process. Informers of what can be
// numerous keep only what is read.
type clients struct {
	ctrl.Env
	// operator is that of Env, for library-go.
	operator v1helpers.OperatorClientWithFinalizers
	// conditions writes what the controllers say to operator.
	conditions *conditionWriter
	// removal is what controllers take managementState for while it is Removed.
	removal *ctrl.Latest[operatorv1.ManagementState]
	// patient is operator for controllers that go Degraded over every error and return it.
	patient *patient
	infraID infraid.Memory
	kernels *credentials.Kernels
	// settingsBefore are those that were in force last.
	settingsBefore ctrl.Latest[settings.InForce]

	operatorInstances dynamicinformer.DynamicSharedInformerFactory
	clusterCSIDrivers operatorinformers.SharedInformerFactory
	// config has the remembered infra ID, said what the API server says.
	config, said configinformers.SharedInformerFactory
	// namespaced and cluster-wide objects: use ns and cluster below.
	kubeInformers v1helpers.KubeInformersForNamespaces
	// volumes has PersistentVolumes, trimmed by volumeTrimmer.
	volumes informers.SharedInformerFactory
	// masters has the nodes with masterLabel.
	masters informers.SharedInformerFactory
	// csiNodes has CSINodes, trimmed by nodes.TrimCSINode.
	csiNodes informers.SharedInformerFactory
	// attachments has VolumeAttachments, trimmed by tags.TrimAttachment.
	attachments informers.SharedInformerFactory
	// crds has CustomResourceDefinitions, trimmed by trimCRD.
	crds        dynamicinformer.DynamicSharedInformerFactory
	crdInformer cache.SharedIndexInformer
}

// ns has the objects of the operator's namespace.
func (c *clients) ns() informers.SharedInformerFactory {
	return c.kubeInformers.InformersFor(driver.Namespace)
}

// cluster has the cluster-scoped objects.
func (c *clients) cluster() informers.SharedInformerFactory { return c.kubeInformers.InformersFor("") }

// constraintsCRD is of what every OpenShift has, and nothing else.
const constraintsCRD = "securitycontextconstraints.security.openshift.io"

// openshift says whether this is one.
func (c *clients) openshift() bool { return len(c.Served(constraintsCRD)) > 0 }

func newClients(cc *controllercmd.ControllerContext, d driver.Driver) (*clients, error) {
	introduce(cc)
	kube, err := kubernetes.NewForConfig(cc.ProtoKubeConfig)
	if err != nil {
		return nil, fmt.Errorf("creating the Kubernetes client: %w", err)
	}
	dyn, err := dynamic.NewForConfig(cc.KubeConfig)
	if err != nil {
		return nil, fmt.Errorf("creating the dynamic client: %w", err)
	}
	config, err := configclient.NewForConfig(cc.KubeConfig)
	if err != nil {
		return nil, fmt.Errorf("creating the config.openshift.io client: %w", err)
	}
	ops, err := operatorclient.NewForConfig(cc.KubeConfig)
	if err != nil {
		return nil, fmt.Errorf("creating the operator.openshift.io client: %w", err)
	}
	operator, instances, err := genericoperatorclient.NewClusterScopedOperatorClientWithConfigName(cc.Clock, cc.KubeConfig,
		operatorv1.GroupVersion.WithResource("clustercsidrivers"), operatorv1.GroupVersion.WithKind("ClusterCSIDriver"),
		d.Name, ctrl.AppliedSpec, ctrl.AppliedStatus)
	if err != nil {
		return nil, fmt.Errorf("creating the client of ClusterCSIDriver %s: %w", d.Name, err)
	}
	onlyOurs := func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector("metadata.name", d.Name).String()
	}
	onlyMasters := func(o *metav1.ListOptions) { o.LabelSelector = masterLabel }
	crds := dynamicinformer.NewDynamicSharedInformerFactory(dyn, resync)
	crdInformer := ctrl.Together(crds.ForResource(ctrl.CRDs).Informer())
	volumes := informers.NewSharedInformerFactory(kube, resync)
	kernels, err := credentials.NewKernels(kube)
	if err := errors.Join(err, crdInformer.SetTransform(trimCRD), informVolumes(volumes, d)); err != nil {
		return nil, fmt.Errorf("preparing informers: %w", err)
	}
	kubeInformers := v1helpers.NewKubeInformersForNamespaces(kube, "", driver.Namespace)
	tellTogether(kubeInformers)
	board := condition.NewBoard(condition.Declared, libraryConditions(d))
	one := newMaybeWithout(operator, d, dyn.Resource(clusterCSIDrivers), board)
	said := configinformers.NewSharedInformerFactory(config, resync)
	configMaps := kubeInformers.InformersFor(driver.Namespace).Core().V1().ConfigMaps()
	infraID := infraid.Memory{Load: state.InfraIDs(kube.CoreV1(), configMaps.Lister(), d).Load, Synced: configMaps.Informer().HasSynced}
	c := &clients{
		Env:      ctrl.Env{Driver: d, Operator: one, Kube: kube, Dynamic: dyn, CRDs: crdInformer, Recorder: cc.EventRecorder, Clock: clock.RealClock{}, Remembering: &sync.Mutex{}},
		operator: one, removal: &one.removal, patient: newPatient(one, cc.Clock), operatorInstances: instances, infraID: infraID, kernels: kernels,
		conditions:        &conditionWriter{driver: d, board: board, client: one, clock: cc.Clock},
		clusterCSIDrivers: operatorinformers.NewSharedInformerFactoryWithOptions(ops, resync, operatorinformers.WithTweakListOptions(onlyOurs)),
		config:            infraid.Remember(said, infraID), said: said,
		kubeInformers: kubeInformers,
		volumes:       volumes,
		masters:       informers.NewSharedInformerFactoryWithOptions(kube, resync, informers.WithTweakListOptions(onlyMasters), informers.WithTransform(trimNode)),
		csiNodes:      informers.NewSharedInformerFactoryWithOptions(kube, resync, informers.WithTransform(nodes.TrimCSINode(d))),
		attachments:   informers.NewSharedInformerFactoryWithOptions(kube, resync, informers.WithTransform(tags.TrimAttachment)),
		crds:          crds, crdInformer: crdInformer,
	}
	c.inform()
	return c, nil
}

// introduce has every client say who it is, and what the API server warns of be told once.
func introduce(cc *controllercmd.ControllerContext) {
	warnings := rest.NewWarningWriter(os.Stderr, rest.WarningWriterOptions{Deduplicate: true})
	cc.KubeConfig.WarningHandler, cc.ProtoKubeConfig.WarningHandler = warnings, warnings
	cc.KubeConfig.UserAgent, cc.ProtoKubeConfig.UserAgent = driver.Program, driver.Program
}

// inform completes Env with what rests on the informers.
func (c *clients) inform() {
	c.Secrets, c.ConfigMaps = c.ns().Core().V1().Secrets(), c.ns().Core().V1().ConfigMaps()
	c.Deployments, c.DaemonSets = c.ns().Apps().V1().Deployments(), c.ns().Apps().V1().DaemonSets()
	c.StorageClasses, c.CSIDrivers = c.cluster().Storage().V1().StorageClasses(), c.cluster().Storage().V1().CSIDrivers()
	c.PersistentVolumes = c.volumes.Core().V1().PersistentVolumes()
	c.Infrastructures = c.config.Config().V1().Infrastructures()
	c.ClusterCSIDrivers = c.clusterCSIDrivers.Operator().V1().ClusterCSIDrivers()
	c.Settings = c.settingsReader().Current
	c.Served = c.served
}

func (c *clients) served(crd string) []string {
	object, exists, err := c.crdInformer.GetStore().GetByKey(crd)
	if err != nil || !exists {
		return nil
	}
	return servedVersions(object)
}

// record is where the keys of the state ConfigMap are.
func (c *clients) record() (corev1client.ConfigMapsGetter, corelisters.ConfigMapLister, driver.Driver) {
	return c.Kube.CoreV1(), c.ConfigMaps.Lister(), c.Driver
}

// rights are those that the operator has only while something takes them.
func (c *clients) rights() virtualization.Rights {
	return virtualization.Rights{Client: c.Kube.RbacV1(), Bindings: c.cluster().Rbac().V1().ClusterRoleBindings(), Recorder: c.Recorder}
}

// tellTogether prepares the informers that many controllers listen to. library-go's constructors
// add listeners, too, for queues that nobody here works on.
func tellTogether(all v1helpers.KubeInformersForNamespaces) {
	byNamespace := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	ns := all.InformersFor(driver.Namespace)
	ns.InformerFor(&corev1.Secret{}, func(client kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		return ctrl.Together(coreinformers.NewSecretInformer(client, driver.Namespace, resync, byNamespace))
	})
	ns.InformerFor(&corev1.ConfigMap{}, func(client kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		return ctrl.Together(coreinformers.NewConfigMapInformer(client, driver.Namespace, resync, byNamespace))
	})
	all.InformersFor("").InformerFor(&storagev1.StorageClass{}, func(client kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		return ctrl.Together(storageinformers.NewStorageClassInformer(client, resync, cache.Indexers{}))
	})
}

// start runs every informer that a controller has asked for.
func (c *clients) start(ctx context.Context) {
	for _, f := range []interface{ Start(<-chan struct{}) }{
		c.operatorInstances, c.clusterCSIDrivers, c.config, c.kubeInformers, c.volumes, c.masters, c.csiNodes, c.attachments, c.crds,
	} {
		f.Start(ctx.Done())
	}
	go c.kernels.Run(ctx)
}

// staticInformers are the kinds in assets' static folders; a test compares them. Of ConfigMaps, in which the
// operators write what they tell and remember, only that of the assets counts.
func (c *clients) staticInformers() []factory.Informer {
	return []factory.Informer{
		c.cluster().Rbac().V1().ClusterRoles().Informer(),
		c.cluster().Rbac().V1().ClusterRoleBindings().Informer(),
		c.CSIDrivers.Informer(),
		c.ns().Rbac().V1().Roles().Informer(),
		c.ns().Rbac().V1().RoleBindings().Informer(),
		c.ns().Core().V1().ServiceAccounts().Informer(),
		c.ns().Core().V1().Services().Informer(),
		ctrl.Only(c.ns().Core().V1().ConfigMaps().Informer(), c.Driver.TrustedCAConfigMap()),
		c.ns().Policy().V1().PodDisruptionBudgets().Informer(),
	}
}
