# Targets carry the names of openshift/build-machinery-go.
all: build
.PHONY: all help dependencies dependencies-nodes build test test-unit test-e2e suites-first suites-second test-e2e-failed test-node soak soak-load fuzz require-nodes verify update clean \
	verify-gofmt verify-govet verify-staticcheck verify-deps verify-golden update-gofmt update-deps update-golden \
	test-releases test-kubernetes-e2e cluster-up cluster-down demo bench images release test-image test-release-suites

SHELL := /bin/bash -o pipefail

# go-ceph is compiled for the librados that is installed. The tag is looked up when a recipe
# runs, because `make dependencies` may have to install librados first.
GO_TAGS = $(shell test/librados-tag.sh)
GO := go
# -trimpath lets checkouts in different folders share Go's build cache.
GO_FLAGS = -trimpath -tags=$(GO_TAGS)
GO_LD_FLAGS := -s -w
PACKAGES := ./assets/... ./cmd/... ./pkg/... ./test/...
# Suites that start a cluster of their own, each in a process of its own. They run in two chains that take as long as each
# other; the one begins with real nodes, the other with what takes long.
NODE_SUITES := $(addprefix ./test/e2e/node/,kubernetes openshift) ./test/cluster/node/...
# The upgrade of real nodes takes a quarter of an hour more: that is for make test-node. (make test upgrades what runs on others.)
UPGRADE_SUITE := ./test/e2e/node/upgrade
FIRST_SUITES := $(addprefix ./test/e2e/,pools shared settings virtualization) ./pkg/ceph/rados ./test/volumes ./test/demo/... ./test/standins/...
OTHER_SUITES := $(addprefix ./test/e2e/,teardown upgrade faults inputs connect tuning beside glue credentials deploy tags kubernetes) ./test/e2e/... ./test/cluster/...
SUITES = $(FIRST_SUITES) $(OTHER_SUITES)
# In the order of the patterns, without those that run elsewhere.
SECOND_SUITES = $$($(GO) list $(GO_FLAGS) $(OTHER_SUITES) | grep -v -x -F -f <($(GO) list $(GO_FLAGS) $(NODE_SUITES) $(UPGRADE_SUITE) $(FIRST_SUITES)))
RUN_SUITES = $(GO) test -vet=off $(GO_FLAGS) -ldflags "$(GO_LD_FLAGS)" -timeout=45m -p=$(1) -count=1
COMPARE_RIGHTS = $(GO) run $(GO_FLAGS) ./test/rights/compare
# What the suites have recorded is tried as a whole; where one is missing, it fails.
TRY_RECORDINGS = { ! $(CLUSTER) nodes >/dev/null 2>&1 || ls bin/scrapes/cephfs-CephCSINodesNotServed; } >/dev/null && ls bin/scrapes/*-* >/dev/null && $(GO) test -C test/alerts -trimpath -ldflags "$(GO_LD_FLAGS)" -count=1 -run Recorded .
CLUSTER = $(GO) run $(GO_FLAGS) ./test/cluster

help: ## Show the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## (.*)/\1|\2/' | awk -F'|' '{printf "  %-20s %s\n", $$1, $$2}'

dependencies: ## Install librados, its headers and the Ceph daemons of the distribution, where missing
	@test/install-dependencies.sh

dependencies-nodes: dependencies ## Install what real nodes run, containerd and its like, where missing
	@test/install-dependencies.sh nodes

build: dependencies ## Build bin/ceph-csi-driver-operator
	$(GO) build $(GO_FLAGS) -ldflags '$(GO_LD_FLAGS)' -o bin/ ./cmd/ceph-csi-driver-operator

# What test-e2e runs whole is not run in part before: to link a package's tests takes seconds of a core.
test: UNIT_PACKAGES = $$(comm -23 <($(GO) list $(GO_FLAGS) $(PACKAGES) | sort) <($(GO) list $(GO_FLAGS) $(SUITES) | sort))
test: verify test-unit test-e2e ## Check everything: sources, unit tests, end-to-end tests on a real API server and Ceph
	@if $(CLUSTER) nodes; then cat bin/figures/*; else echo "What needs real nodes was not run."; fi

UNIT_PACKAGES = $$($(GO) list $(GO_FLAGS) $(PACKAGES) | grep -v /test/e2e/)
test-unit: dependencies ## Run the unit tests
	$(GO) test -vet=off $(GO_FLAGS) -ldflags "$(GO_LD_FLAGS)" -short $(UNIT_PACKAGES)
	$(GO) test -C test/alerts -trimpath -ldflags "$(GO_LD_FLAGS)" .

# Two cores are busy with one suite with real nodes and two others, or with four others. Where more ran, leases and waits ran
# out, and the whole took longer.
test-e2e: build ## Run the end-to-end tests; each suite has a cluster of its own
	-@test/install-dependencies.sh nodes
	$(CLUSTER) binaries
	rm -rf bin/rights-used bin/figures bin/scrapes bin/e2e*.log
	$(MAKE) -k -j2 suites-first suites-second; ended=$$?; cat bin/e2e-*.log >bin/e2e.log; exit $$ended
	$(COMPARE_RIGHTS)
	$(TRY_RECORDINGS)

suites-first:
	$(call RUN_SUITES,1) $(NODE_SUITES) | tee bin/e2e-nodes.log; nodes=$$?; \
		test/half.sh first $(call RUN_SUITES,2) $(FIRST_SUITES) | tee bin/e2e-first.log; exit $$((nodes + $$?))
suites-second:
	test/half.sh second $(call RUN_SUITES,2) $(SECOND_SUITES) | tee bin/e2e-second.log

test-node: build dependencies-nodes require-nodes ## Run what needs real nodes: kubelet, containerd, sidecars
	$(CLUSTER) binaries
	rm -rf bin/figures
	$(call RUN_SUITES,1) $(NODE_SUITES) $(UPGRADE_SUITE)
	@cat bin/figures/*

# ALL=yes writes the lists of what passes anew; DRIVER=rbd or DRIVER=cephfs is for one.
test-kubernetes-e2e: build dependencies-nodes require-nodes ## Run Kubernetes' own tests of storage drivers with both drivers on real nodes
	$(GO) run $(GO_FLAGS) ./test/kubernetestests $(if $(filter yes,$(ALL)),-all) $(if $(DRIVER),-driver=$(DRIVER))

require-nodes: dependencies ## Fail where real nodes cannot be run, and say what they need
	@$(CLUSTER) nodes

# Two at a time: it is to tell a fault from a busy machine.
test-e2e-failed: build ## Run the suites again that failed in the last make test-e2e
	@failed=$$(sed -n 's/^FAIL\t\(\S*\).*/\1/p' bin/e2e.log) && [ -n "$$failed" ] || { echo "no suite failed in the last make test-e2e"; exit 1; }; \
		echo "$$failed"; $(call RUN_SUITES,2) $$failed | tee bin/e2e.log
	$(COMPARE_RIGHTS)
	$(TRY_RECORDINGS)

# ONLY="rbd, the log level: killed after at write 3" is for one, a regular expression for several; SEED= has `make test` try the sample of another day.
# What the time is too short for is for the next soak: remove bin/faults.json to begin anew.
SOAK_TIME ?= 60m
LOAD_TIME ?= 20m
# Most of a fault's time is waited: parts of the soak run side by side, each with clusters of its own.
SOAK_PARTS ?= $(if $(ONLY),1,5)
soak: build ## Break the writes of the operators, and of uninstall and teardown, in each way, and compare how it ends
	$(CLUSTER) binaries
	$(MAKE) soak-load; load=$$?; \
	$(MAKE) -k -j$$(($(SOAK_PARTS) + 2)) $(addprefix soak-part-,$(shell seq $(SOAK_PARTS))) soak-teardown soak-inputs; faults=$$?; cat bin/faults.txt; \
	$(MAKE) fuzz && exit $$((faults + load))

# Without -v, go test shows nothing before the end.
SOAK = SOAK=all $(call RUN_SUITES,1) -timeout=0 -v
soak-part-%:
	SOAK_PART=$*/$(SOAK_PARTS) SOAK_TIME=$(SOAK_TIME) $(SOAK) ./test/e2e/faults -ginkgo.timeout=0
soak-teardown:
	$(SOAK) ./test/e2e/teardown -ginkgo.timeout=0 -ginkgo.focus="writes that fail"
soak-inputs:
	$(SOAK) ./test/e2e/inputs -ginkgo.timeout=0

soak-load: build ## Have 20 objects a second come and go on a large cluster, for LOAD_TIME=, with faults, and print what that costs
	$(GO) run $(GO_FLAGS) ./test/bench -load=$(LOAD_TIME) -strict | tee bin/load.txt

FUZZ_TIME = 1m
fuzz: dependencies ## Give each parser what nobody has thought of, for a minute or FUZZ_TIME= each; what fails is kept as a test
	@set -e; for folder in $$(grep -rl --include='*_test.go' '^func Fuzz' pkg | xargs -n1 dirname | sort -u); do \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z]*\).*/\1/p' $$folder/*_test.go); do \
			echo "$$folder $$target"; \
			$(GO) test -vet=off $(GO_FLAGS) -run '^$$' -fuzz "^$$target\$$" -fuzztime=$(FUZZ_TIME) -fuzzminimizetime=5s ./$$folder; \
		done; \
	done

# Each release twice: its daemons with clients of the installed one, as an upgraded cluster has them, and
# everything of that release, as a new cluster has it.
RELEASES ?= 18.2 20.2
RELEASE_SUITES ?= ./pkg/ceph/rados ./test/volumes $(addprefix ./test/e2e/,check credentials shared teardown tags pools connect)
# What mounts volumes does so by the installed programs, which do not know new keys.
INSTALLED_SUITES ?= ./test/standins/cephcsi
test-releases: $(addprefix test-release-,$(RELEASES)) ## Run the suites that touch Ceph on newer Ceph, unpacked from Debian's packages

test-release-%: build
	$(CLUSTER) binaries
	CEPH_RELEASE=$* $(call RUN_SUITES,3) $(RELEASE_SUITES) $(INSTALLED_SUITES) | tee bin/release-$*-installed.log
	variables=$$($(CLUSTER) release $*) && eval "$$variables" && export OPERATOR_BINARY=$(CURDIR)/bin/ceph-$*/ceph-csi-driver-operator && \
		$(MAKE) --no-print-directory test-release-suites GO_TAGS=$$GO_TAGS GO_LD_FLAGS="$(GO_LD_FLAGS) -extldflags '$$GO_EXTLDFLAGS'" | tee bin/release-$*-native.log

# The environment says which release.
test-release-suites:
	$(GO) build $(GO_FLAGS) -ldflags "$(GO_LD_FLAGS)" -o $$OPERATOR_BINARY ./cmd/ceph-csi-driver-operator
	$(call RUN_SUITES,3) $(RELEASE_SUITES)

verify: verify-gofmt verify-govet verify-staticcheck verify-deps verify-golden ## Check format, vet, lint, vendor folder and generated files

verify-gofmt:
	@files=$$(gofmt -l assets cmd pkg test); [ -z "$$files" ] || { echo "not formatted (make update-gofmt):" $$files; exit 1; }

# cgocall reads the source again under the folder's name that is cached with what cgo made; with -trimpath that may be another
# checkout's, gone by now. What it looks for, Go pointers that C must not have, ends a program at the call, as in each test.
verify-govet: dependencies
	$(GO) vet $(GO_FLAGS) -cgocall=false $(PACKAGES)
	$(GO) vet -C pkg/clusterstorage/configs .

verify-staticcheck: dependencies
	$(GO) build -C test/tools -o $(CURDIR)/bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	GOFLAGS="$(GO_FLAGS)" bin/staticcheck $(PACKAGES)

verify-deps:
	$(GO) mod tidy -diff
	$(GO) mod verify
	@tmp=$$(mktemp -d) && trap 'rm -rf $$tmp' EXIT && $(GO) mod vendor -o $$tmp/vendor && \
		diff -qr vendor $$tmp/vendor || { echo "vendor/ differs from go.mod: make update-deps"; exit 1; }

# Packages whose tests compare committed files with what they are made from.
GOLDEN = ./assets/... ./test/crdpatch/... ./pkg/condition
verify-golden: dependencies
	$(GO) test $(GO_FLAGS) -count=1 -run 'Golden' $(GOLDEN)

update: update-gofmt update-deps update-golden ## Write everything that verify checks

update-gofmt:
	gofmt -w assets cmd pkg test

update-deps:
	$(GO) mod tidy
	$(GO) mod vendor

update-golden: dependencies
	UPDATE_GOLDEN=1 $(GO) test $(GO_FLAGS) -count=1 -run 'Golden' $(GOLDEN)

cluster-up: dependencies ## Start the embedded cluster and keep it running until Ctrl-C or make cluster-down
	$(CLUSTER) up

cluster-down: ## Stop the embedded cluster
	$(CLUSTER) down

# NODES=real runs the pods on real nodes.
demo: build $(if $(filter real,$(NODES)),dependencies-nodes require-nodes) ## Show both drivers coming up against a real Ceph; runs until Ctrl-C or make cluster-down
	$(GO) run $(GO_FLAGS) ./test/demo $(if $(filter real,$(NODES)),-real-nodes)

bench: build ## Measure both drivers, and print the figures with what they should be
	-@test/install-dependencies.sh nodes
	$(GO) run $(GO_FLAGS) ./test/bench

IMAGE ?= ceph-csi-driver-operator:latest
# Build arguments of the Dockerfile that may be given here.
IMAGE_ARGUMENTS = $(foreach a,BUILDER BASE CEPH_RELEASE CEPH_MINIMUM,$(if $($(a)),--build-arg $(a)=$($(a))))
images: ## Build the image that IMAGE= names with podman, docker or buildah
	@engine=$$(command -v podman || command -v docker || command -v buildah) || { echo "make images needs podman, docker or buildah"; exit 1; }; \
		$$engine build $(IMAGE_ARGUMENTS) -t $(IMAGE) -f Dockerfile .

VERSION ?= $(shell git describe --tags --always --dirty)
# Not what the environment has by these names: the folder is removed first.
MANIFESTS := manifests
RELEASE := bin/release
# REPORT=yes is for an OpenShift without cluster-storage-operator. Where that runs, the namespace is there, and left out:
# `oc delete -f` of the release would take everybody's drivers along.
REPORT_ARGUMENT = $(if $(filter yes,$(REPORT)),-e '/^ *- --report-cluster-operator$$/d' -e 's|^\( *- \)cluster-storage$$|&\n\1--report-cluster-operator|')
release: ## Write the manifests of VERSION= to bin/release, with the images that IMAGE= and CEPH_CSI_IMAGE= name, and sidecars of OpenShift SIDECARS=
	@image='^[a-zA-Z0-9-]+([.][a-zA-Z0-9-]+)+(:[0-9]+)?/[a-z0-9][a-zA-Z0-9./_@:-]*$$'; \
	[[ '$(VERSION)' =~ ^[a-zA-Z0-9][a-zA-Z0-9.+_-]*$$ ]] || { echo "VERSION= must be of letters, digits and any of .+_-"; exit 1; }; \
	[[ '$(IMAGE)' =~ $$image ]] || { echo "IMAGE= must name the operator's image as the cluster pulls it, with the registry"; exit 1; }; \
	[[ '$(SIDECARS)' =~ ^[a-zA-Z0-9._-]*$$ ]] || { echo "SIDECARS= must be a release of OpenShift, such as 4.22"; exit 1; }; \
	[[ -z '$(CEPH_CSI_IMAGE)' || '$(CEPH_CSI_IMAGE)' =~ $$image ]] || { echo "CEPH_CSI_IMAGE= must name ceph-csi's image as the cluster pulls it, with the registry"; exit 1; }
	rm -rf '$(RELEASE)'
	mkdir -p '$(RELEASE)'
	cp -r '$(MANIFESTS)/.' '$(RELEASE)'
	$(if $(REPORT_ARGUMENT),,rm '$(RELEASE)/01_namespace.yaml')
	find '$(RELEASE)' -name 10_deployment.yaml -exec sed -i -e 's|quay.io/openshift/origin-ceph-csi-driver-operator:latest|$(IMAGE)|' \
		-e 's|quay.io/openshift/origin-ceph-csi-driver:latest|$(or $(CEPH_CSI_IMAGE),&)|' \
		-e 's#\(quay.io/openshift/origin-\(csi-[a-z-]*\|kube-rbac-proxy\)\):latest#\1:$(or $(SIDECARS),latest)#' \
		-e 's|value: "\{0,1\}0\.0\.1-snapshot"\{0,1\}$$|value: "$(VERSION)"|' $(REPORT_ARGUMENT) {} +
	@echo "$(RELEASE) has the manifests of version $(VERSION), for an OpenShift $(if $(REPORT_ARGUMENT),without,with) cluster-storage-operator; kubernetes/ in it is for others"

test-image: ## Build the Dockerfile over this machine's distribution, try the image, and leave it in bin/image.tar
	@test/install-dependencies.sh image-tools
	$(GO) run $(GO_FLAGS) ./test/image

clean: ## Remove what was built here
	rm -rf bin
