package credentials

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

var clusterCSIDrivers = schema.GroupVersionResource{Group: "operator.openshift.io", Version: "v1", Resource: "clustercsidrivers"}

// set sets a member of spec.driverConfig.ceph of both drivers; nil takes it away.
func set(ctx context.Context, member string, value any) {
	GinkgoHelper()
	text, err := json.Marshal(value)
	Expect(err).NotTo(HaveOccurred())
	patch := fmt.Appendf(nil, `{"spec":{"driverConfig":{"driverType":"Ceph","ceph":{%q:%s}}}}`, member, text)
	for _, d := range driver.All {
		_, err := env.Dynamic.Resource(clusterCSIDrivers).Patch(ctx, d.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
}

func setMode(ctx context.Context, mode string) {
	GinkgoHelper()
	set(ctx, "credentials", mode)
}

// passedOn waits until both drivers work as one user, and say so.
func passedOn(ctx context.Context, id string, message ...string) {
	GinkgoHelper()
	for _, d := range driver.All {
		Eventually(func(g Gomega) {
			secretsHave(ctx, g, cephUsers(ctx, g), d, id, id)
			c := env.Condition(ctx, g, d, "CredentialsMinted")
			g.Expect(string(c.Status)).To(Equal("False"))
			g.Expect(c.Reason).To(Equal("Passthrough"))
			for _, text := range append(message, "client."+id) {
				g.Expect(c.Message).To(ContainSubstring(text))
			}
			g.Expect(string(env.Condition(ctx, g, d, "CephResourcesDegraded").Status)).To(Equal("False"))
		}).WithContext(ctx).WithPolling(fixture.CephPolling).Should(Succeed())
	}
}

// denied waits until both drivers say that their users cannot be kept, and returns the command that mends it.
func denied(ctx context.Context) string {
	GinkgoHelper()
	var command string
	for _, d := range driver.All {
		Eventually(func(g Gomega) {
			c := env.Condition(ctx, g, d, "CephResourcesDegraded")
			g.Expect(string(c.Status)).To(Equal("True"))
			g.Expect(c.Reason).To(Equal("AccessDenied"))
			_, rest, found := strings.Cut(c.Message, "ceph auth caps ")
			g.Expect(found).To(BeTrue(), c.Message)
			rest, _, _ = strings.Cut(rest, "\n")
			command = "ceph auth caps " + rest
		}).WithContext(ctx).Should(Succeed())
	}
	return command
}

func modes() {
	It("Passthrough and back again, users and keys stay", func(ctx SpecContext) {
		before := cephUser(ctx, Default, driver.RBD.NodeUser(infraID)).Key
		setMode(ctx, "Passthrough")
		passedOn(ctx, "admin", "spec.driverConfig.ceph.credentials")
		setMode(ctx, "Mint")
		Eventually(asMinted).WithContext(ctx).WithPolling(fixture.CephPolling).Should(Succeed())
		Expect(cephUser(ctx, Default, driver.RBD.NodeUser(infraID)).Key == before).To(BeTrue(), "the users are the same")
		setMode(ctx, "Auto")
	})

	It("with a user that may not make any, the users stay, until a person passes that one on, or an administrator allows more", func(ctx SpecContext) {
		keyring := ceph(ctx, "auth", "get-or-create", "client.restricted",
			"mon", `allow r, allow command "osd blocklist"`, "mgr", "allow rw",
			"osd", "profile rbd, allow rw tag cephfs metadata=*, allow rw tag cephfs data=*", "mds", "allow rw")
		env.KeepSecret(fixture.KeysOf(string(keyring))...)
		data := env.Credentials()
		data["keyring"] = keyring
		env.Declare(ctx, data)
		denied(ctx)
		for _, d := range driver.All {
			secretsHave(ctx, Default, cephUsers(ctx, Default), d, d.ProvisionerUser(infraID), d.NodeUser(infraID))
		}
		setMode(ctx, "Passthrough")
		passedOn(ctx, "restricted", "spec.driverConfig.ceph.credentials")
		setMode(ctx, "Auto")
		passedOn(ctx, "restricted", "ceph auth caps client.restricted ")
		env.Settle(ctx)

		setMode(ctx, "Mint")
		command := denied(ctx)
		for _, d := range driver.All {
			secretsHave(ctx, Default, cephUsers(ctx, Default), d, "restricted", "restricted")
		}
		AddReportEntry("advice", command)
		run(ctx, command)
		Eventually(asMinted).WithContext(ctx).WithTimeout(aMinute).WithPolling(time.Second).Should(Succeed())
		env.Settle(ctx)

		env.Declare(ctx, env.Credentials())
		setMode(ctx, "Auto")
		env.Settle(ctx)
		Eventually(asMinted).WithContext(ctx).WithPolling(fixture.CephPolling).Should(Succeed())
	})
}
