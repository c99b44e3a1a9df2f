package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	operatorclient "github.com/openshift/client-go/operator/clientset/versioned"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
)

// stopLimit bounds the end of the operators, which give their leases back.
const stopLimit = 10 * time.Second

// run tells the story on p until ctx ends or, if so wished, both drivers are available.
func run(ctx context.Context, o options, p *printer) (err error) {
	cluster, err := embedded.Start(ctx, embedded.Options{Dir: o.dir, Log: p.of("cluster"), Mons: 3})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil && ctx.Err() == nil {
			cluster.KeepState()
			err = fmt.Errorf("%w\nstate and logs stay in %s", err, cluster.Dir())
		}
		p.say("cluster", "stopping")
		err = errors.Join(err, cluster.Stop())
	}()
	if err := prepare(ctx, cluster, p); err != nil {
		return err
	}
	// The watch outlives ctx, so that the operators' end is not cut off.
	watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWatching()
	w, err := newWatch(watching, cluster.AdminConfig())
	if err != nil {
		return err
	}
	s := newStory(o, cluster, w, p)
	defer s.stopOperators()
	if err := s.startOperators(ctx); err != nil {
		return err
	}
	return s.tell(ctx)
}

// prepare does what an administrator would: it declares the Ceph cluster and asks for both drivers.
func prepare(ctx context.Context, cluster *embedded.Cluster, p *printer) error {
	client, err := cluster.Client()
	if err != nil {
		return err
	}
	ceph := cluster.Ceph()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: driver.CredentialsSecret, Namespace: driver.Namespace},
		StringData: map[string]string{"ceph.conf": ceph.Conf(), "keyring": ceph.Keyring()},
	}
	if _, err := client.CoreV1().Secrets(driver.Namespace).Create(ctx, secret, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating Secret %s/%s: %w", driver.Namespace, driver.CredentialsSecret, err)
	}
	p.say("cluster", "Secret %s created from ceph.conf and keyring of Ceph cluster %s", driver.CredentialsSecret, ceph.FSID())
	operators, err := operatorclient.NewForConfig(cluster.AdminConfig())
	if err != nil {
		return err
	}
	for _, d := range driver.All {
		cr := &operatorv1.ClusterCSIDriver{
			ObjectMeta: metav1.ObjectMeta{Name: d.Name},
			Spec: operatorv1.ClusterCSIDriverSpec{OperatorSpec: operatorv1.OperatorSpec{
				ManagementState: operatorv1.Managed, LogLevel: operatorv1.Normal, OperatorLogLevel: operatorv1.Normal,
			}},
		}
		if _, err := operators.OperatorV1().ClusterCSIDrivers().Create(ctx, cr, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("creating ClusterCSIDriver %s: %w", d.Name, err)
		}
		p.say("cluster", "ClusterCSIDriver %s created", d.Name)
	}
	return nil
}
