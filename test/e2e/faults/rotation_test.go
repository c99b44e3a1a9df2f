package faults

import (
	"context"
	"os"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// noticed is when an operator has noticed that users are gone: it looks for them each minute.
const noticed = 75 * time.Second

// deleteUsers deletes the driver's users from Ceph, for which the operator makes others with other keys.
func deleteUsers(ctx context.Context, d driver.Driver) {
	GinkgoHelper()
	infrastructure, err := env.Configs.Infrastructures().Get(ctx, "cluster", metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	id := infrastructure.Status.InfrastructureName
	for _, user := range []string{d.ProvisionerUser(id), d.NodeUser(id)} {
		_, err := env.Cluster.Ceph().Command(ctx, "auth", "rm", "client."+user)
		Expect(err).NotTo(HaveOccurred())
	}
}

// replacement is the user that the operators get in the place of the administrator.
const replacement = "client.replacement"

var replacementKeyring []byte

// createReplacement makes it.
func createReplacement(ctx context.Context) {
	GinkgoHelper()
	file := filepath.Join(GinkgoT().TempDir(), "keyring")
	_, err := env.Cluster.Ceph().Command(ctx, "auth", "get-or-create", replacement, "mon", "allow *", "mgr", "allow *", "osd", "allow *", "mds", "allow *", "-o", file)
	Expect(err).NotTo(HaveOccurred())
	replacementKeyring, err = os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	env.KeepSecret(fixture.KeysOf(string(replacementKeyring))...)
}

// rotated are credentials with that user.
func rotated() map[string][]byte {
	out := env.Credentials()
	out["keyring"] = replacementKeyring
	return out
}
