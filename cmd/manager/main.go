// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Command manager is the Orca operator's control plane.
package main

import (
	"crypto/tls"
	"flag"
	"fmt"
	"maps"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers"
	"github.com/orca-agent-engine/orca-operator/controllers/certificates"
	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

// version is set by the linker.
var version = "devel"

type options struct {
	settings       string
	namespace      string
	metricsAddress string
	probeAddress   string
	leaderElect    bool
	workers        int
	webhookPort    int
	certificates   string
	selfSigned     bool
	lifetime       time.Duration
}

// webhookCertificates says where the webhooks' certificates come from.
func (o options) webhookCertificates() certificates.Options {
	out := certificates.Options{Folder: o.certificates, Namespace: o.namespace}
	if o.selfSigned {
		out.Lifetime = o.lifetime
	}
	return out
}

// validate refuses what nothing could be done with later.
func (o options) validate() error {
	if o.selfSigned && o.lifetime <= 0 {
		return fmt.Errorf("--webhook-certificate-lifetime: %s is not a time that a certificate can be valid for", o.lifetime)
	}
	return nil
}

func main() {
	o := options{}
	flag.StringVar(&o.settings, "settings", "/etc/orca/settings.yaml", "the deployment's settings file")
	flag.StringVar(&o.namespace, "namespace", "orca-system", "the manager's own namespace, which has the Secret of its certificates and its lease")
	flag.StringVar(&o.metricsAddress, "metrics-bind-address", ":8443", "where metrics are served over HTTPS to authorised callers; 0 turns them off")
	flag.StringVar(&o.probeAddress, "health-probe-bind-address", ":8081", "where the probes are served")
	flag.BoolVar(&o.leaderElect, "leader-elect", false, "let only one of several replicas act")
	flag.IntVar(&o.workers, "workers", 50, "how many sessions are worked on at the same time")
	flag.IntVar(&o.webhookPort, "webhook-port", 9443, "the port on which the webhooks are served")
	flag.StringVar(&o.certificates, "webhook-certificates", "/var/run/orca/webhook", "the folder with the webhooks' tls.crt and tls.key, which are served anew whenever they change")
	flag.BoolVar(&o.selfSigned, "webhook-self-signed", true, "make the webhooks' certificates, shared by all replicas; without, somebody else puts them in the folder and their CA in the webhooks' configuration")
	flag.DurationVar(&o.lifetime, "webhook-certificate-lifetime", 90*24*time.Hour, "how long a certificate that the manager makes is valid; it is renewed when a third is left")
	logging := zap.Options{}
	logging.BindFlags(flag.CommandLine)
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&logging)))
	if err := run(o); err != nil {
		ctrl.Log.Error(err, "The manager ended")
		os.Exit(1)
	}
}

func run(o options) error {
	if err := o.validate(); err != nil {
		return err
	}
	deployment, err := settings.Load(o.settings)
	if err != nil {
		return err
	}
	folder := certificates.NewFolder(o.webhookCertificates())
	mgr, err := newManager(o, folder)
	if err != nil {
		return err
	}
	if err := certificates.Setup(mgr, folder, o.webhookCertificates()); err != nil {
		return err
	}
	ctx := ctrl.SetupSignalHandler()
	if err := controllers.Setup(ctx, mgr, deployment, o.workers); err != nil {
		return err
	}
	ctrl.Log.Info("Starting", "version", version)
	return mgr.Start(ctx)
}

func newManager(o options, folder *certificates.Folder) (ctrl.Manager, error) {
	cacheOptions, err := controllers.CacheOptions()
	if err != nil {
		return nil, err
	}
	maps.Copy(cacheOptions.ByObject, o.webhookCertificates().Cached())
	restConfig, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the API server: %w", err)
	}
	// The API server's own priority and fairness decides, not the client.
	restConfig.QPS = -1
	mgr, err := ctrl.NewManager(restConfig, ctrl.Options{
		Scheme: newScheme(),
		Cache:  cacheOptions,
		Client: client.Options{FieldOwner: "orca-manager", FieldValidation: "Strict"},
		Controller: config.Controller{
			ReconciliationTimeout: time.Minute,
		},
		Metrics:                       metricsOptions(o.metricsAddress),
		HealthProbeBindAddress:        o.probeAddress,
		WebhookServer:                 webhook.NewServer(webhookOptions(o.webhookPort, folder)),
		LeaderElection:                o.leaderElect,
		LeaderElectionID:              "orca-manager",
		LeaderElectionNamespace:       o.namespace,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return nil, fmt.Errorf("making the manager: %w", err)
	}
	return mgr, addProbes(mgr)
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(orcav1alpha1.AddToScheme(scheme))
	return scheme
}

func metricsOptions(address string) metricsserver.Options {
	return metricsserver.Options{
		BindAddress:    address,
		SecureServing:  true,
		FilterProvider: filters.WithAuthenticationAndAuthorization,
		TLSOpts:        []func(*tls.Config){withoutHTTP2},
	}
}

func webhookOptions(port int, folder *certificates.Folder) webhook.Options {
	return webhook.Options{
		Port:    port,
		TLSOpts: []func(*tls.Config){withoutHTTP2, func(c *tls.Config) { c.GetCertificate = folder.GetCertificate }},
	}
}

// withoutHTTP2: its known weaknesses aren't worth what the manager's servers
// would gain from it.
func withoutHTTP2(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }

func addProbes(mgr ctrl.Manager) error {
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("adding the liveness check: %w", err)
	}
	if err := mgr.AddReadyzCheck("webhook", mgr.GetWebhookServer().StartedChecker()); err != nil {
		return fmt.Errorf("adding the readiness check: %w", err)
	}
	return nil
}
