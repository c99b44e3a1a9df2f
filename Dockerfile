# Builder and runtime install the same Ceph release from the CentOS Storage SIG: librados and
# libcephfs are linked dynamically and must be of the release that the binary was compiled against.
ARG CEPH_RELEASE=tentacle

FROM registry.ci.openshift.org/ocp/builder:rhel-9-golang-1.26-openshift-5.0 AS builder
ARG CEPH_RELEASE
RUN dnf install -y centos-release-ceph-${CEPH_RELEASE} && dnf install -y gcc librados-devel libcephfs-devel && dnf clean all
WORKDIR /go/src/github.com/openshift/ceph-csi-driver-operator
COPY . .
RUN go build -mod=vendor -tags="$(test/librados-tag.sh)" -ldflags '-s -w' -o bin/ ./cmd/ceph-csi-driver-operator

FROM registry.ci.openshift.org/ocp/5.0:base-rhel9
ARG CEPH_RELEASE
RUN dnf install -y centos-release-ceph-${CEPH_RELEASE} && dnf install -y librados2 librbd1 libcephfs2 && dnf clean all
COPY --from=builder /go/src/github.com/openshift/ceph-csi-driver-operator/bin/ceph-csi-driver-operator /usr/bin/
USER 1001
ENTRYPOINT ["/usr/bin/ceph-csi-driver-operator"]
LABEL io.k8s.display-name="OpenShift Ceph CSI Driver Operator" \
	io.k8s.description="Deploys and operates the Ceph CSI drivers (RBD and CephFS)." \
	io.openshift.release.operator=true
