# syntax=docker/dockerfile:1

# The images of the operator, one target each:
#   docker build --target manager -t orca-manager .
#   docker build --target runtime -t orca-runtime .
#   docker build --target sandbox -t orca-sandbox .

ARG GO_VERSION=1.26
ARG DEBIAN_VERSION=bookworm

FROM --platform=$BUILDPLATFORM golang:${GO_VERSION}-${DEBIAN_VERSION} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY api api
COPY controllers controllers
COPY cmd cmd
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=unknown
RUN --mount=type=cache,target=/go/pkg/mod \
    --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} \
    go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/ ./cmd/...

# What setup and the collector run in: the only place that sees credentials.
FROM debian:${DEBIAN_VERSION}-slim AS runtime
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates git git-lfs libnss-wrapper openssh-client \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /out/orca-sandbox /usr/local/bin/orca-sandbox
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/orca-sandbox"]

# An example of what agents work in. A deployment brings its own; it needs
# nothing of the operator's, which adds its launcher to every sandbox.
FROM debian:${DEBIAN_VERSION}-slim AS sandbox
RUN apt-get update \
    && apt-get install -y --no-install-recommends bash ca-certificates coreutils git python3 \
    && rm -rf /var/lib/apt/lists/*
USER 65532:65532

FROM gcr.io/distroless/static-debian12:nonroot AS manager
COPY --from=build /out/manager /manager
USER 65532:65532
ENTRYPOINT ["/manager"]
