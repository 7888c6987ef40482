// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/certificates"
)

const (
	// patience is for a slow machine.
	patience = time.Minute
	interval = 50 * time.Millisecond
)

// programFolder is where the tests build the manager.
var programFolder string

// program is the manager, built once for all tests that run it.
var program = sync.OnceValues(func() (string, error) {
	path := filepath.Join(programFolder, "manager")
	out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building the manager: %w: %s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	var err error
	if programFolder, err = os.MkdirTemp("", "orca-manager-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(programFolder)
	os.Exit(code)
}

// cluster is an API server with config/default applied. Nothing runs in it; the
// managers are processes of the test.
type cluster struct {
	config *rest.Config
	user   client.Client
	folder string
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		t.Fatal("KUBEBUILDER_ASSETS must name the folder with etcd, kube-apiserver and kubectl; make test-unit sets it")
	}
	environment := &envtest.Environment{ControlPlaneStartTimeout: 2 * time.Minute}
	config, err := environment.Start()
	if err != nil {
		t.Fatalf("starting the API server: %v", err)
	}
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Errorf("stopping the API server: %v", err)
		}
	})
	config.QPS = -1
	c := &cluster{config: config, folder: t.TempDir()}
	if c.user, err = client.New(config, client.Options{Scheme: newScheme()}); err != nil {
		t.Fatal(err)
	}
	c.writeKubeconfig(t, "admin", rest.ImpersonationConfig{})
	c.writeKubeconfig(t, "manager", rest.ImpersonationConfig{
		UserName: "system:serviceaccount:orca-system:orca-manager",
		Groups:   []string{"system:serviceaccounts", "system:authenticated"},
	})
	c.apply(t, c.render(t))
	return c
}

func (c *cluster) kubeconfig(name string) string { return filepath.Join(c.folder, name+".kubeconfig") }

func (c *cluster) writeKubeconfig(t *testing.T, name string, as rest.ImpersonationConfig) {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: c.config.Host, CertificateAuthorityData: c.config.CAData}
	config.AuthInfos["test"] = &clientcmdapi.AuthInfo{
		ClientCertificateData: c.config.CertData, ClientKeyData: c.config.KeyData,
		Impersonate: as.UserName, ImpersonateGroups: as.Groups,
	}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	config.CurrentContext = "test"
	if err := clientcmd.WriteToFile(*config, c.kubeconfig(name)); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) kubectl(t *testing.T, input []byte, args ...string) []byte {
	t.Helper()
	command := exec.CommandContext(t.Context(), filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl"), args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig("admin"))
	command.Stdin = bytes.NewReader(input)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("kubectl %s: %v: %s", strings.Join(args, " "), err, stderr.String())
	}
	return out
}

func (c *cluster) render(t *testing.T) []byte {
	t.Helper()
	return c.kubectl(t, nil, "kustomize", filepath.Join("..", "..", "config", "default"))
}

func (c *cluster) apply(t *testing.T, manifests []byte) {
	t.Helper()
	c.kubectl(t, manifests, "apply", "--server-side", "-f", "-")
}

// reach lets the API server reach the webhooks' Service at a port of this
// machine, which plays the cluster's network.
func (c *cluster) reach(t *testing.T, port int) {
	t.Helper()
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "orca-system", Name: "orca-webhook"}}
	if err := c.user.Delete(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	service = &corev1.Service{ObjectMeta: service.ObjectMeta, Spec: corev1.ServiceSpec{
		Type: corev1.ServiceTypeExternalName, ExternalName: "localhost",
	}}
	if err := c.user.Create(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	c.changeWebhooks(t, func(where *admissionregistrationv1.WebhookClientConfig) { where.Service.Port = new(int32(port)) })
}

func (c *cluster) changeWebhooks(t *testing.T, change func(*admissionregistrationv1.WebhookClientConfig)) {
	t.Helper()
	configuration := c.webhooks(t)
	before := configuration.DeepCopy()
	for i := range configuration.Webhooks {
		change(&configuration.Webhooks[i].ClientConfig)
	}
	if err := c.user.Patch(t.Context(), configuration, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) webhooks(t *testing.T) *admissionregistrationv1.ValidatingWebhookConfiguration {
	t.Helper()
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := c.user.Get(t.Context(), client.ObjectKey{Name: certificates.Configuration}, configuration); err != nil {
		t.Fatal(err)
	}
	return configuration
}

// bundle returns the CAs that the API servers trust.
func (c *cluster) bundle(t *testing.T) []byte {
	t.Helper()
	var out []byte
	for i, webhook := range c.webhooks(t).Webhooks {
		if i > 0 && !bytes.Equal(webhook.ClientConfig.CABundle, out) {
			t.Fatal("the webhooks have different CAs")
		}
		out = webhook.ClientConfig.CABundle
	}
	return out
}

// tryToMake makes nothing, but asks the API server to, webhooks included.
func (c *cluster) tryToMake(ctx context.Context) error {
	environment := &orcav1alpha1.OrcaEnvironment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "env-"}}
	return c.user.Create(ctx, environment, client.DryRunAll)
}

// await polls until something holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(interval) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s for %s", patience, what)
		}
	}
}

// process is a running manager.
type process struct {
	command           *exec.Cmd
	folder            string
	webhookPort, port int
	output            *lockedBuffer
}

// lockedBuffer may be read while a process writes to it.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

const settingsFile = `apiVersion: config.orca.dev/v1alpha1
kind: OperatorConfig
sandbox:
  image: registry.test/agent:v1
  runtimeImage: registry.test/runtime:v1
  command: [agent]
`

// start runs a manager with further flags until the test ends.
func (c *cluster) start(t *testing.T, flags ...string) *process {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	settings := filepath.Join(folder, "settings.yaml")
	if err := os.WriteFile(settings, []byte(settingsFile), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &process{folder: filepath.Join(folder, "webhook"), webhookPort: freePort(t), port: freePort(t), output: &lockedBuffer{}}
	p.command = exec.Command(path, append([]string{
		"--settings=" + settings, "--leader-elect", "--metrics-bind-address=0",
		"--health-probe-bind-address=127.0.0.1:" + strconv.Itoa(p.port),
		"--webhook-port=" + strconv.Itoa(p.webhookPort), "--webhook-certificates=" + p.folder,
	}, flags...)...)
	p.command.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig("manager"))
	p.command.Stdout, p.command.Stderr = p.output, p.output
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.kill(t)
		if t.Failed() {
			t.Logf("a manager said:\n%s", p.output)
		}
	})
	return p
}

// kill ends a manager without a chance to say goodbye, if it hasn't ended.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if p.command.ProcessState != nil {
		return
	}
	if err := p.command.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	_ = p.command.Wait() // It says that the process was killed.
}

func (p *process) ready() bool {
	response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/readyz", p.port))
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
