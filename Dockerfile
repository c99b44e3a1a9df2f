# Builder and runtime install the same Ceph release from the CentOS Storage SIG: librados, librbd and
# libcephfs are linked dynamically and must be of the release that the binary was compiled against.
# Where the base images have apt, it is their distribution's release. README says what may be given.
ARG CEPH_RELEASE=tentacle
ARG BUILDER=registry.ci.openshift.org/ocp/builder:rhel-9-golang-1.26-openshift-5.0
ARG BASE=registry.ci.openshift.org/ocp/5.0:base-rhel9

FROM ${BUILDER} AS headers
ARG CEPH_RELEASE
RUN --mount=type=bind,source=test/install-dependencies.sh,target=/run/install.sh bash /run/install.sh image-builder

FROM headers AS builder
WORKDIR /go/src/github.com/openshift/ceph-csi-driver-operator
COPY . .
RUN go build -mod=vendor -trimpath -tags="$(test/librados-tag.sh)" -ldflags '-s -w' -o bin/ ./cmd/ceph-csi-driver-operator

FROM ${BASE} AS libraries
ARG CEPH_RELEASE
# Older ones do not understand the keys that Ceph makes since then.
ARG CEPH_MINIMUM=20.2.4
RUN --mount=type=bind,source=test/install-dependencies.sh,target=/run/install.sh bash /run/install.sh image-runtime

FROM libraries
COPY --from=builder /go/src/github.com/openshift/ceph-csi-driver-operator/bin/ceph-csi-driver-operator /usr/bin/
# The label below says that releases of OpenShift find these here.
COPY manifests/*.yaml manifests/image-references /manifests/
USER 1001
ENTRYPOINT ["/usr/bin/ceph-csi-driver-operator"]
LABEL io.k8s.display-name="OpenShift Ceph CSI Driver Operator" \
	io.k8s.description="The Ceph CSI Driver Operator installs and maintains the Ceph CSI Drivers (RBD and CephFS) on a cluster." \
	io.openshift.release.operator=true
