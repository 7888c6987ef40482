// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// quantities compares quantities by their value.
var quantities = cmp.Comparer(func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })

// withWorkspaces sets everything that workspaces can change, and changes much of
// it in some namespaces.
const withWorkspaces = `
apiVersion: config.orca.dev/v1alpha1
kind: OperatorConfig
# Workspaces are merged over what stands below them, too.
workspaces:
- namespaces: [training, evaluation]
  limits: {files: 500}
  sandbox:
    image: cuda
    command: [train]
    maxLifetime: 72h
    sharedMemory: 0
    resources: {requests: {memory: 8Gi}, limits: {memory: 32Gi, nvidia.com/gpu: 1}}
    nodeSelector: {gpu: "yes"}
    tolerations: [{key: gpu, operator: Exists, effect: NoExecute, tolerationSeconds: 60}]
    podLabels: {b: training, c: training}
- namespaces: [evaluation, plain]
  sandbox: {tolerations: [], command: []}
limits: {files: 200}
sandbox:
  image: agent
  runtimeImage: runtime
  command: [a, b]
  resources: {requests: {cpu: 1}}
  nodeSelector: {pool: sandboxes}
  tolerations: [{key: sandboxes, effect: NoExecute, tolerationSeconds: 30}]
  imagePullSecrets: [registry]
  podLabels: {a: base, b: base}
  podAnnotations: {a: base}
`

func TestForNamespace(t *testing.T) {
	base := func(changes ...func(*Effective)) Effective {
		effective := defaults()
		effective.Limits.Files = 200
		effective.Sandbox.Command = []string{"a", "b"}
		effective.Sandbox.Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("1")}
		effective.Sandbox.NodeSelector = map[string]string{"pool": "sandboxes"}
		effective.Sandbox.Tolerations = []corev1.Toleration{{Key: "sandboxes", Effect: "NoExecute", TolerationSeconds: new(int64(30))}}
		effective.Sandbox.ImagePullSecrets = []string{"registry"}
		effective.Sandbox.PodLabels = map[string]string{"a": "base", "b": "base"}
		effective.Sandbox.PodAnnotations = map[string]string{"a": "base"}
		for _, change := range changes {
			change(&effective)
		}
		return effective
	}
	training := func(effective *Effective) {
		effective.Limits.Files = 500
		effective.Sandbox.Image = "cuda"
		effective.Sandbox.Command = []string{"train"}
		effective.Sandbox.MaxLifetime = metav1.Duration{Duration: 72 * time.Hour}
		effective.Sandbox.SharedMemory = resource.MustParse("0")
		effective.Sandbox.Resources = corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("8Gi")},
			Limits: corev1.ResourceList{
				"cpu": resource.MustParse("2"), "memory": resource.MustParse("32Gi"), "nvidia.com/gpu": resource.MustParse("1"),
			},
		}
		effective.Sandbox.NodeSelector["gpu"] = "yes"
		effective.Sandbox.Tolerations = []corev1.Toleration{{Key: "gpu", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: new(int64(60))}}
		effective.Sandbox.PodLabels = map[string]string{"a": "base", "b": "training", "c": "training"}
	}
	plain := func(effective *Effective) {
		effective.Sandbox.Command = []string{}
		effective.Sandbox.Tolerations = []corev1.Toleration{}
	}
	tests := map[string]struct {
		namespace string
		want      Effective
	}{
		"a namespace in no workspace has the deployment's settings": {"other", base()},
		"no namespace has the deployment's settings":                {"", base()},
		"a workspace changes what it sets":                          {"training", base(training)},
		"of two workspaces the first holds, alone":                  {"evaluation", base(training)},
		"an empty list replaces a list":                             {"plain", base(plain)},
	}
	settings := mustParse(t, withWorkspaces)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, settings.ForNamespace(tc.namespace), quantities); diff != "" {
				t.Errorf("settings of %q (-want +got):\n%s", tc.namespace, diff)
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	got := mustParse(t, minimal).ForNamespace("")
	if diff := cmp.Diff(defaults(), got, quantities); diff != "" {
		t.Errorf("settings of a file with images only (-want +got):\n%s", diff)
	}
}

// defaults are the settings of a file with images only.
func defaults() Effective {
	amounts := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory)}
	}
	return Effective{
		Mode:     "Colocated",
		Packages: "Reject",
		Limits:   Limits{Files: 100},
		Sandbox: Sandbox{
			Image:            "agent",
			RuntimeImage:     "runtime",
			RunAsUser:        1000,
			Resources:        corev1.ResourceRequirements{Requests: amounts("100m", "256Mi"), Limits: amounts("2", "2Gi")},
			MaxLifetime:      metav1.Duration{Duration: 24 * time.Hour},
			AgentGracePeriod: metav1.Duration{Duration: 30 * time.Second},
			ScratchSize:      resource.MustParse("1Gi"),
			OutputsSize:      resource.MustParse("10Gi"),
			SharedMemory:     resource.MustParse("64Mi"),
		},
		Setup: Setup{
			Timeout:   metav1.Duration{Duration: 10 * time.Minute},
			Resources: corev1.ResourceRequirements{Requests: amounts("100m", "128Mi"), Limits: amounts("1", "1Gi")},
		},
		Collector: Collector{
			Resources: corev1.ResourceRequirements{Requests: amounts("10m", "32Mi"), Limits: amounts("500m", "256Mi")},
		},
		Artifacts: Artifacts{
			URL:             "file:///var/lib/orca/artifacts",
			CollectTimeout:  metav1.Duration{Duration: 10 * time.Minute},
			MaxFileBytes:    resource.MustParse("10Gi"),
			MaxSessionBytes: resource.MustParse("10Gi"),
			Retention:       metav1.Duration{Duration: 720 * time.Hour},
		},
	}
}

func TestRequestsAndLimitsReplaceTheirDefaults(t *testing.T) {
	got := mustParse(t, header+"sandbox: {image: agent, runtimeImage: runtime, resources: {requests: {}, limits: {memory: 4Gi}}}}")
	want := corev1.ResourceRequirements{
		Requests: corev1.ResourceList{},
		Limits:   corev1.ResourceList{"memory": resource.MustParse("4Gi")},
	}
	if diff := cmp.Diff(want, got.ForNamespace("").Sandbox.Resources, quantities); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
}

func TestWorkspaceIsJudgedAsMerged(t *testing.T) {
	content := strings.Replace(minimal, "{apiVersion", "{workspaces: [{namespaces: [a], sandbox: {resources: {limits: {memory: 128Mi}}}}], apiVersion", 1)
	_, err := Parse("test.yaml", []byte(content))
	want := `settings file test.yaml: workspaces[0].sandbox.resources.requests[memory]: Invalid value: "256Mi": must not be greater than the limit, 128Mi`
	if err == nil || err.Error() != want {
		t.Errorf("want %q, got %v", want, err)
	}
}

func TestSettingsDoNotChangeWithWhatTheyGaveOut(t *testing.T) {
	settings, untouched := mustParse(t, withWorkspaces), mustParse(t, withWorkspaces)
	for _, namespace := range []string{"", "training"} {
		spoilt := settings.ForNamespace(namespace)
		spoil(reflect.ValueOf(&spoilt).Elem())
		if diff := cmp.Diff(untouched.ForNamespace(namespace), settings.ForNamespace(namespace), quantities); diff != "" {
			t.Errorf("settings of %q after a change of a copy (-want +got):\n%s", namespace, diff)
		}
	}
}

// spoil overwrites everything that a value refers to.
func spoil(value reflect.Value) {
	switch value.Kind() {
	case reflect.Map:
		value.Clear()
	case reflect.Slice:
		for i := range value.Len() {
			spoil(value.Index(i))
			value.Index(i).SetZero()
		}
	case reflect.Pointer:
		if !value.IsNil() {
			value.Elem().SetZero()
		}
	case reflect.Struct:
		for i := range value.NumField() {
			if value.Type().Field(i).IsExported() {
				spoil(value.Field(i))
			}
		}
	}
}
