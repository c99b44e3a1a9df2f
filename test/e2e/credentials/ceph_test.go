package credentials

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// user is a cephx user as Ceph shows it.
type user struct {
	Entity, Key string
	Caps        map[string]string
}

// ceph runs a command as the administrator.
func ceph(ctx context.Context, arguments ...string) []byte {
	GinkgoHelper()
	out, err := env.Cluster.Ceph().Command(ctx, arguments...)
	Expect(err).NotTo(HaveOccurred())
	return out
}

// cephUsers are all users, by their names without "client.".
func cephUsers(ctx context.Context, g Gomega) map[string]user {
	GinkgoHelper()
	out, err := env.Cluster.Ceph().Command(ctx, "auth", "ls", "--format", "json")
	g.Expect(err).NotTo(HaveOccurred())
	var all struct {
		Users []user `json:"auth_dump"`
	}
	g.Expect(json.Unmarshal(out, &all)).To(Succeed())
	users := map[string]user{}
	for _, u := range all.Users {
		users[strings.TrimPrefix(u.Entity, "client.")] = u
	}
	return users
}

// cephUser is the user of that name, without "client.".
func cephUser(ctx context.Context, g Gomega, id string) user {
	GinkgoHelper()
	found, there := cephUsers(ctx, g)[id]
	g.Expect(there).To(BeTrue(), "client."+id)
	return found
}

// secretUser is what ceph-csi reads in a Secret.
func secretUser(ctx context.Context, g Gomega, secret string) (id, key string) {
	GinkgoHelper()
	s, err := env.Kube.CoreV1().Secrets(namespace).Get(ctx, secret, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	return string(s.Data["userID"]), string(s.Data["userKey"])
}

// secretsHave says that both Secrets of a driver have these users, with the keys that Ceph knows.
func secretsHave(ctx context.Context, g Gomega, known map[string]user, d driver.Driver, provisioner, node string) {
	GinkgoHelper()
	for secret, want := range map[string]string{d.ProvisionerSecret(): provisioner, d.NodeSecret(): node} {
		id, key := secretUser(ctx, g, secret)
		g.Expect(id).To(Equal(want), secret)
		g.Expect(key != "" && key == known[id].Key).To(BeTrue(), "the key of Secret %s is not the user's", secret)
	}
}

// as runs one of Ceph's programs as the user in a Secret, and returns what it says.
func as(ctx context.Context, secret, program string, arguments ...string) (string, error) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	id, key := secretUser(ctx, Default, secret)
	keyring := filepath.Join(GinkgoT().TempDir(), "keyring")
	Expect(os.WriteFile(keyring, []byte("[client."+id+"]\n\tkey = "+key+"\n"), 0o600)).To(Succeed())
	arguments = append([]string{"--conf", env.Cluster.Ceph().ConfFile(), "--keyring", keyring, "--id", id}, arguments...)
	cmd, err := env.Cluster.Ceph().Program(ctx, program, arguments...)
	Expect(err).NotTo(HaveOccurred())
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// run has a shell run a command of `ceph` as an administrator would who copied it.
func run(ctx context.Context, command string) {
	GinkgoHelper()
	out, err := env.Cluster.Ceph().Shell(ctx, command).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
}
