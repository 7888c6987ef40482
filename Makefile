SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# The targets build on each other and Go uses all cores by itself.
.NOTPARALLEL:
MAKEFLAGS += --no-builtin-rules

# Everything that is built, installed or run lives in this one folder.
ORCA := $(CURDIR)/.orca
BIN := $(ORCA)/bin
TOOLS := hack/tools

# The version comes from git describe below, so Go need not ask git; it would
# fail where the checkout belongs to another user.
export GOFLAGS := $(strip $(GOFLAGS) -buildvcs=false)
export KUBEBUILDER_ASSETS := $(BIN)
export KUBECACHEDIR := $(ORCA)/kubectl-cache

GIT := git -c safe.directory=$(CURDIR)
VERSION = $(shell $(GIT) describe --tags --always --dirty 2>/dev/null || echo unknown)
CLUSTER := $(BIN)/orca-cluster
KUBECTL := $(BIN)/kubectl --kubeconfig $(ORCA)/kubeconfig
MANAGER := --namespace orca-system deployment/orca-manager

# Every Go module of the repository, and those of them that hold code.
MODULES = $(patsubst %/go.mod,%,$(shell find . -name .orca -prune -o -name go.mod -print | sort))
CODE_MODULES = $(foreach m,$(MODULES),$(if $(shell find $m -name '*.go' -print -quit),$m))
# Packages with tests only: go test would build the others for nothing.
TESTED := go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./...
# The race detector needs a C compiler for this platform.
RACE = $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)

##@ Help

.PHONY: help
help: ## Show the targets
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z0-9-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' Makefile

##@ Code

.PHONY: generate
generate: $(BIN)/controller-gen ## Generate the DeepCopy functions of the API types
	$(BIN)/controller-gen object:headerFile=hack/boilerplate.go.txt paths=./api/...

.PHONY: manifests
manifests: $(BIN)/controller-gen ## Generate the CRDs and the manager's role
	$(BIN)/controller-gen crd:omitToolVersion=true paths=./api/... output:crd:artifacts:config=config/crd/bases
	$(BIN)/controller-gen rbac:roleName=orca-manager paths=./controllers/... paths=./cmd/manager/... output:rbac:dir=config/rbac

.PHONY: fmt
fmt: $(BIN)/golangci-lint ## Format all Go code
	$(BIN)/golangci-lint fmt

.PHONY: lint
lint: $(BIN)/golangci-lint ## Lint every module
	@failed=; \
	for module in $(CODE_MODULES); do \
		echo "lint $$module"; \
		(cd $$module && $(BIN)/golangci-lint run ./...) || failed+=" $$module"; \
	done; \
	if [[ -n $$failed ]]; then echo "lint failed in:$$failed" >&2; exit 1; fi

.PHONY: tidy
tidy: need-go ## Tidy every module's requirements
	@for module in $(MODULES); do echo "tidy $$module"; (cd $$module && go mod tidy); done

.PHONY: verify
verify: need-git ## Generate, tidy and lint; fail if that changes a file
	$(TOOLS)/verify

##@ Build

.PHONY: build
build: need-go need-git ## Build the operator's programs into .orca/bin
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o $(BIN)/ ./cmd/...

##@ Local cluster

.PHONY: cluster
cluster: $(CLUSTER) ## Start the local cluster (needs root); its kubeconfig is .orca/kubeconfig
	$(CLUSTER) up --dir $(ORCA)

.PHONY: images
images: build cluster ## Build the images and import them into the local cluster
	$(CLUSTER) images --dir $(ORCA)

.PHONY: deploy
deploy: images ## Install the operator in the local cluster
	$(KUBECTL) apply --server-side --force-conflicts -k config/default
	@# An image keeps its name when its program changes; the digest rolls the pods.
	$(KUBECTL) patch $(MANAGER) --field-manager orca-deploy --patch \
		'{"spec":{"template":{"metadata":{"annotations":{"orca.dev/program":"'$$(sha256sum $(BIN)/manager | cut -c 1-64)'"}}}}}'
	$(KUBECTL) rollout status $(MANAGER) --timeout 3m || { \
		$(KUBECTL) --namespace orca-system get pods,events; \
		$(KUBECTL) logs $(MANAGER) --tail 50; \
		exit 1; }

.PHONY: demo
demo: deploy ## Run a session in the local cluster and show what it did
	PATH=$(BIN):$$PATH KUBECONFIG=$(ORCA)/kubeconfig hack/demo/run

.PHONY: down
down: $(CLUSTER) ## Stop the local cluster and remove all it left on the machine
	$(CLUSTER) down --dir $(ORCA)

##@ Test

.PHONY: test
test: test-unit test-e2e ## Run all tests

.PHONY: test-unit
test-unit: need-gcc need-git need-git-lfs need-ssh need-sshd need-libnss_wrapper.so $(CLUSTER) ## Run the tests that need no cluster
	$(CLUSTER) build --only etcd,kube-apiserver,kubectl --dir $(ORCA)
	@failed=; \
	for module in $(CODE_MODULES); do \
		packages=$$(cd $$module && $(TESTED)); \
		if [[ -z $$packages ]]; then continue; fi; \
		echo "test $$module"; \
		(cd $$module && go test $(RACE) -timeout 20m $$packages) || failed+=" $$module"; \
	done; \
	if [[ -n $$failed ]]; then echo "tests failed in:$$failed" >&2; exit 1; fi

.PHONY: test-e2e
test-e2e: deploy ## Run the end-to-end tests on the local cluster
	PATH=$(BIN):$$PATH KUBECONFIG=$(ORCA)/kubeconfig go test -tags e2e -count 1 -parallel 4 -timeout 20m ./hack/e2e/...

##@ Measure

.PHONY: bench
bench: deploy ## Measure what the enforcement costs; write the table in docs/performance.md
	PATH=$(BIN):$$PATH KUBECONFIG=$(ORCA)/kubeconfig go run ./hack/bench -page docs/performance.md

##@ Clean

.PHONY: clean
clean: down ## Stop the local cluster and delete all that was built
	rm -rf --one-file-system $(ORCA)

# What the targets above need.

.PHONY: need-go need-git need-git-lfs need-gcc need-ssh need-sshd need-libnss_wrapper.so
need-go need-git need-git-lfs need-gcc need-ssh need-sshd need-libnss_wrapper.so: need-%:
	@$(TOOLS)/need $*

$(BIN)/controller-gen: $(TOOLS)/go.mod $(TOOLS)/go.sum | need-go
	cd $(TOOLS) && go build -o $@ sigs.k8s.io/controller-tools/cmd/controller-gen

$(BIN)/golangci-lint: $(TOOLS)/go.mod $(TOOLS)/go.sum $(wildcard $(TOOLS)/cmd/golangci-lint/*.go) | need-go
	@echo "building golangci-lint with the linters of Kubernetes (minutes the first time)"
	cd $(TOOLS) && go build -o $@ ./cmd/golangci-lint

# Phony in effect: whether it is up to date is for Go to say.
.PHONY: $(CLUSTER)
$(CLUSTER): need-go
	cd hack/cluster && CGO_ENABLED=0 go build -o $@ .
