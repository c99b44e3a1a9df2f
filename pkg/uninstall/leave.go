package uninstall

import (
	"cmp"
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/shell"
	"github.com/openshift/ceph-csi-driver-operator/pkg/status"
)

// remaining are the commands for what stays in Ceph when nobody contacts it. The pools are those that
// were protected when their operators last said so.
func remaining(ctx context.Context, o Options) ([]string, error) {
	name, err := infraID(ctx, o)
	if err != nil || o.Dial != nil {
		return nil, err
	}
	name = cmp.Or(name, "INFRA_ID")
	out := []string{"ceph osd pool ls detail --format json-pretty # has a key " + driver.ClaimPrefix + name + ".DRIVER for each pool that is left, and each driver"}
	for _, d := range o.drivers() {
		configMap, err := o.Kube.CoreV1().ConfigMaps(driver.Namespace).Get(ctx, d.StatusConfigMap(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading ConfigMap %s/%s: %w", driver.Namespace, d.StatusConfigMap(), err)
		}
		document, _ := status.Read(configMap) // It is for people, who may have edited it.
		for _, cluster := range document.CephClusters {
			for _, protected := range cluster.Pools.Protected {
				out = append(out, releasing(name, d.Kind, protected, cluster.FSID)...)
			}
		}
	}
	for _, id := range userIDs(name) {
		out = append(out, shell.Command("ceph", "auth", "rm", "client."+id))
	}
	return out, nil
}

// releasing are the commands by which an administrator gives a pool back that a driver of a cluster used. Whoever stops in
// between leaves no flag that looks like an administrator's.
func releasing(infraID, kind, pool, fsid string) []string {
	application := []string{"ceph", "osd", "pool", "application", "rm", pool, kind}
	return []string{
		shell.Command(append(application, driver.ClaimKey(infraID, kind))...) + " # of Ceph cluster " + fsid,
		shell.Command("ceph", "osd", "pool", "set", pool, "nodelete", "false") + " # and this, if no other cluster has a key there",
		shell.Command(append(application, driver.ProtectionKey)...) + " # likewise",
		shell.Command(append(application, driver.ChangeKey(infraID, kind))...) + " # what an operator leaves that was killed, if it is there",
		shell.Command("rados", "-p", pool, "-N", ceph.PresenceNamespace, "rm", ceph.PresenceObject(infraID, kind)) + " # an empty object, if it is there",
	}
}
