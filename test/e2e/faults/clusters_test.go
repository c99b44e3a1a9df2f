package faults

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// monReplaced has another mon join, and then the oldest leave: after the first time, ceph.conf has none that is left.
func monReplaced() change {
	ceph := func() *cephdaemons.Ceph { return env.Cluster.Ceph() }
	return change{name: "a mon replaced", do: func(ctx context.Context) {
		monsMade++
		Expect(ceph().AddMon(ctx, fmt.Sprintf("made-%d", monsMade))).To(Succeed())
	}, undo: func(ctx context.Context) {
		Expect(ceph().RemoveMon(ctx, ceph().Mons()[0])).To(Succeed())
	}}
}

var monsMade int

// counted are parts of texts that are new each time, or made of what is: of a serving certificate, of fields that are compared themselves.
var counted = regexp.MustCompile(`(epoch\W+|uid\W+)[0-9a-f-]+|(/dep-\w+":"|/spec-hash":"|/operator-version":"[^" ]* )[\w=-]+`)

// alike is a text in which all mons are the same one, all monmaps, and whatever was deleted and made anew.
func alike(text string) string {
	var pairs []string
	for _, name := range env.Cluster.Ceph().Mons() {
		for address := range strings.SplitSeq(strings.Trim(env.Cluster.Ceph().MonHost(name), "[]"), ",") {
			_, hostAndPort, _ := strings.Cut(address, ":")
			pairs = append(pairs, hostAndPort, "a mon")
		}
	}
	return counted.ReplaceAllString(strings.NewReplacer(pairs...).Replace(text), "${1}${2}0")
}

// secondCluster declares another Ceph cluster. Its entry stays in the mons' Secret when it goes, so that there is something
// to write only where that Secret goes, too.
func secondCluster(d driver.Driver) change {
	const name = "ceph-second"
	secrets := func() corev1client.SecretInterface { return env.Kube.CoreV1().Secrets(driver.Namespace) }
	var other *cephdaemons.Ceph
	return change{name: "a second Ceph cluster", prepare: func(ctx context.Context) {
		dir, err := filepath.Abs(filepath.Join(env.Cluster.Dir(), "second-"+d.Kind))
		Expect(err).NotTo(HaveOccurred())
		daemons := process.NewGroup(filepath.Join(env.Cluster.Dir(), "logs"), func(process.Record) error { return nil })
		DeferCleanup(daemons.Kill)
		other, err = cephdaemons.Start(ctx, cephdaemons.Options{Dir: dir, WithoutFilesystem: true, Daemons: daemons, Log: GinkgoWriter})
		Expect(err).NotTo(HaveOccurred())
		env.KeepSecret(fixture.KeysOf(other.Keyring())...)
	}, do: func(ctx context.Context) {
		_, err := secrets().Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{driver.ClusterLabel: ""}},
			Data:       map[string][]byte{"ceph.conf": []byte(other.Conf()), "keyring": []byte(other.Keyring())},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(secrets().Delete(ctx, d.ConfigSecret(), metav1.DeleteOptions{})).To(Succeed())
	}, undo: func(ctx context.Context) {
		Expect(secrets().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
		Expect(secrets().Delete(ctx, d.ConfigSecret(), metav1.DeleteOptions{})).To(Succeed())
	}}
}
