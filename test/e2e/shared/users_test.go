package shared

import (
	"context"
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// user is a cephx user as Ceph shows it.
type user struct {
	Key  string
	Caps map[string]string
}

func ceph(ctx context.Context, arguments ...string) []byte {
	GinkgoHelper()
	out, err := one.Cluster.Ceph().Command(ctx, arguments...)
	Expect(err).NotTo(HaveOccurred())
	return out
}

// names are all that an operator makes for its cluster.
func (c *openShift) names() []string {
	var out []string
	for _, d := range driver.All {
		out = append(out, d.ProvisionerUser(c.infraID), d.NodeUser(c.infraID))
	}
	return out
}

// users are those in Ceph, by name without "client."; one that is missing is not among them.
func (c *openShift) users(ctx context.Context, g Gomega) map[string]user {
	GinkgoHelper()
	out, err := one.Cluster.Ceph().Command(ctx, "auth", "ls", "--format", "json")
	g.Expect(err).NotTo(HaveOccurred())
	var all struct {
		Users []struct {
			Entity string `json:"entity"`
			user
		} `json:"auth_dump"`
	}
	g.Expect(json.Unmarshal(out, &all)).To(Succeed())
	users := map[string]user{}
	for _, u := range all.Users {
		for _, name := range c.names() {
			if u.Entity == "client."+name {
				users[name] = u.user
			}
		}
	}
	return users
}

// asMade says that all users have their caps, and that the Secrets have their keys.
func (c *openShift) asMade(ctx context.Context, g Gomega, caps map[string]user) {
	GinkgoHelper()
	now := c.users(ctx, g)
	g.Expect(now).To(HaveLen(4))
	for name, u := range now {
		g.Expect(u.Caps).To(Equal(caps[name].Caps), name)
	}
	for _, d := range driver.All {
		for secret, name := range map[string]string{d.ProvisionerSecret(): d.ProvisionerUser(c.infraID), d.NodeSecret(): d.NodeUser(c.infraID)} {
			s, err := c.Kube.CoreV1().Secrets(driver.Namespace).Get(ctx, secret, metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(s.Data["userID"])).To(Equal(name))
			g.Expect(string(s.Data["userKey"]) == now[name].Key).To(BeTrue(), "the key in Secret %s is not that of %s", secret, name)
		}
	}
}

func users() {
	It("has users of its own, who reach nothing of the other's", func(ctx SpecContext) {
		for _, c := range both() {
			Eventually(func(g Gomega) {
				now := c.users(ctx, g)
				g.Expect(now).To(HaveLen(4))
				c.asMade(ctx, g, now)
				for _, name := range []string{driver.RBD.ProvisionerUser(c.infraID), driver.RBD.NodeUser(c.infraID)} {
					claim := "allow rwx tag rbd " + keyPrefix + "." + c.infraID + ".rbd="
					g.Expect(now[name].Caps).To(HaveKeyWithValue("osd", claim+"in-use, "+claim+"unprotected, profile rbd pool="+c.infraID+"-rbd"))
				}
			}).WithContext(ctx).WithPolling(fixture.CephPolling).Should(Succeed())
		}
	})

	It("puts its own users right, and leaves the other's as they are", func(ctx SpecContext) {
		mine, theirs := one.users(ctx, Default), other.users(ctx, Default)
		for _, c := range both() {
			for _, d := range driver.All {
				c.Operator(d).Kill()
			}
			ceph(ctx, "auth", "caps", "client."+driver.RBD.NodeUser(c.infraID), "mon", "allow *", "osd", "allow *")
			ceph(ctx, "auth", "caps", "client."+driver.RBD.ProvisionerUser(c.infraID), "mon", "allow r")
			ceph(ctx, "auth", "rm", "client."+driver.CephFS.NodeUser(c.infraID))
		}
		spoilt := other.users(ctx, Default)
		Expect(spoilt).To(HaveLen(3))
		one.restart()
		Eventually(func(g Gomega) { one.asMade(ctx, g, mine) }).WithContext(ctx).WithPolling(fixture.CephPolling).Should(Succeed())
		Consistently(func(g Gomega) {
			g.Expect(sameUsers(other.users(ctx, g), spoilt)).To(BeTrue(), "users of the other cluster were touched")
		}).WithContext(ctx).WithTimeout(fixture.Undisturbed).WithPolling(fixture.CephPolling).Should(Succeed())
		repaired := one.users(ctx, Default)
		other.restart()
		Eventually(func(g Gomega) { other.asMade(ctx, g, theirs) }).WithContext(ctx).WithPolling(fixture.CephPolling).Should(Succeed())
		Expect(sameUsers(one.users(ctx, Default), repaired)).To(BeTrue(), "users of the first cluster were touched")
	})
}

func (c *openShift) restart() {
	GinkgoHelper()
	for _, d := range driver.All {
		Expect(c.Operator(d).Restart()).To(Succeed())
	}
}

// sameUsers compares without showing keys.
func sameUsers(a, b map[string]user) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
