// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/hack/gitserver"
)

// store returns a memory store resource, whose id and name are its own.
func store(name, claim string, access orcav1alpha1.Access) orcav1alpha1.SessionResource {
	return orcav1alpha1.SessionResource{Name: name, MemoryStore: orcav1alpha1.MemoryStoreResource{
		StoreID: name, Access: access,
		Source: orcav1alpha1.MemoryStoreSource{PersistentVolumeClaim: orcav1alpha1.ClaimReference{ClaimName: claim}},
	}}
}

// claim makes a claim of the cluster's default storage class.
func claim(t *testing.T, namespace, name string, mode corev1.PersistentVolumeAccessMode) {
	t.Helper()
	create(t, newClaim(namespace, name, mode))
}

func newClaim(namespace, name string, mode corev1.PersistentVolumeAccessMode) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{mode},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("64Mi")}},
		},
	}
}

// stores is how many a session at the limit has, half of them ReadWrite.
const stores = 8

// addStores adds memory stores on claims, fills the ReadOnly ones and returns
// their owners, modes and times.
func (c *composition) addStores() (survey string) {
	var sealed []string
	for i := range stores {
		name := fmt.Sprintf("store-%d", i)
		claim(c.t, c.namespace, name, corev1.ReadWriteOnce)
		if i%2 == 0 {
			c.addStore(name, orcav1alpha1.AccessReadWrite)
		} else {
			c.addStore(name, orcav1alpha1.AccessReadOnly)
			sealed = append(sealed, name)
		}
	}
	return c.fill(sealed)
}

func (c *composition) addStore(name string, access orcav1alpha1.Access) {
	resource, path := store(name, name, access), "/mnt/memory/"+name
	switch name {
	case "store-1":
		resource.MemoryStore.StoreName = "not/safe"
	case "store-2":
		resource.MemoryStore.StoreName, path = "Team Notes", "/mnt/memory/Team Notes"
	}
	c.add(resource, path, access, "")
	if access == orcav1alpha1.AccessReadWrite {
		c.want.Writable = append(c.want.Writable, path)
		return
	}
	c.want.Sealed = append(c.want.Sealed, path)
	c.want.Trees[path] = map[string]string{"note": digest(name + "\n"), "folder/deep": described(gitserver.File{Content: "deep\n", Mode: gitserver.Executable})}
}

// fillScript makes what the ReadOnly stores have. Were the volumes mounted to
// write, the kubelet would change owners and modes, for they are of another
// group than a sandbox's.
const fillScript = `set -e
cd /mnt/memory
for s in *; do
	echo $s > $s/note; mkdir $s/folder; echo deep > $s/folder/deep
	chmod 600 $s/note; chmod 700 $s/folder/deep; chmod 750 $s/folder
	touch -d @1000000000 $s/note $s/folder/deep $s/folder
done
` + surveyScript

// surveyScript prints what is in stores. The next line of a log can't be cut.
const surveyScript = `find store-[1357] -printf '%p %M %U:%G %T@ %s\n' | LC_ALL=C sort`

// fill runs a pod that is no session's with some stores, and returns what it
// prints.
func (c *composition) fill(claims []string) string {
	c.t.Helper()
	pod := restricted(c.namespace, "fill", fillScript, 2000)
	for _, name := range claims {
		source := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: source})
		pod.Spec.Containers[0].VolumeMounts = append(pod.Spec.Containers[0].VolumeMounts,
			corev1.VolumeMount{Name: name, MountPath: "/mnt/memory/" + name})
	}
	create(c.t, pod)
	awaitThat(c.t, "the stores to be filled", func() bool {
		err := cluster.Get(c.t.Context(), client.ObjectKeyFromObject(pod), pod)
		return err == nil && slices.Contains([]corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed}, pod.Status.Phase)
	})
	out, err := kubectl(c.t, "logs", "--namespace", c.namespace, "fill")
	if err != nil || pod.Status.Phase != corev1.PodSucceeded {
		c.t.Fatalf("filling the stores: %s, %v: %s", pod.Status.Phase, err, out)
	}
	return out
}

// restricted returns a pod in the sandbox's image, which the restricted Pod
// Security Standard lets run, with a group for its volumes.
func restricted(namespace, name, script string, group int64) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: new(true), RunAsUser: new(int64(1000)), FSGroup: &group,
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "main", Image: "ghcr.io/orca-agent-engine/orca-sandbox:v0.1.0", Command: []string{"bash", "-c", script},
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
}

func surveyOfSealedStores(t *testing.T, s *orcav1alpha1.OrcaSession) string {
	t.Helper()
	out, err := inSandbox(t, s, "bash", "-c", "cd /mnt/memory; "+surveyScript)
	if err != nil {
		t.Error(err)
	}
	return out
}

// on starts a session with stores in a namespace that has an environment.
func on(t *testing.T, namespace, script string, resources ...orcav1alpha1.SessionResource) *orcav1alpha1.OrcaSession {
	t.Helper()
	s := session(namespace, script)
	s.Spec.Resources = resources
	create(t, s)
	return s
}

// newHome makes a namespace with an environment.
func newHome(t *testing.T) (namespace string) {
	t.Helper()
	namespace = newNamespace(t)
	create(t, environment(namespace, "env"))
	return namespace
}

// F26: what several sessions write into one store at the same time is all
// there, and outlives them.
func TestSessionsShareAStore(t *testing.T) {
	t.Parallel()
	namespace := newHome(t)
	claim(t, namespace, "shared", corev1.ReadWriteMany)
	const lines = 300
	write := fmt.Sprintf("cd /mnt/memory/notes; for i in $(seq %d); do echo $HOSTNAME $i >> index.md; sleep 0.02; done; touch done-$HOSTNAME", lines)
	read := `cd /mnt/memory/notes; until [ $(ls done-* 2>/dev/null | wc -l) = 2 ]; do
	[ ! -e index.md ] || grep -vE '^[a-z0-9-]+ [0-9]+$' index.md; sleep 0.02; done; wc -l < index.md`
	writable, sealed := store("notes", "shared", orcav1alpha1.AccessReadWrite), store("notes", "shared", orcav1alpha1.AccessReadOnly)
	sessions := []*orcav1alpha1.OrcaSession{on(t, namespace, write, writable), on(t, namespace, write, writable)}
	// The volume is given to the sandbox's group while nobody only reads it.
	awaitThat(t, "a writer to begin", func() bool {
		err := cluster.Get(t.Context(), client.ObjectKeyFromObject(sessions[0]), sessions[0])
		return err == nil && slices.Contains([]orcav1alpha1.SessionState{orcav1alpha1.SessionStateRunning, orcav1alpha1.SessionStateEnded}, sessions[0].Status.State)
	})
	sessions = append(sessions, on(t, namespace, read, sealed))
	for _, s := range sessions {
		awaitReason(t, s, orcav1alpha1.ReasonCompleted)
	}
	want := fmt.Sprintln(2 * lines)
	if got := logs(t, sessions[2]); got != want {
		t.Errorf("the reader saw:\n%s\nwant no torn line, and at the end %s", got, want)
	}
	later := on(t, namespace, "wc -l < /mnt/memory/notes/index.md", sealed)
	awaitReason(t, later, orcav1alpha1.ReasonCompleted)
	if got := logs(t, later); got != want {
		t.Errorf("a later session finds %q lines, want %q", got, want)
	}
}

func TestASessionWaitsForItsClaim(t *testing.T) {
	t.Parallel()
	namespace := newHome(t)
	s := on(t, namespace, "exit 0", store("notes", "late", orcav1alpha1.AccessReadWrite))
	awaitReason(t, s, orcav1alpha1.ReasonMemoryStoreUnavailable)
	if c := condition(s, orcav1alpha1.ConditionReady); s.Status.State != orcav1alpha1.SessionStatePending || c.Message != `resource "notes": claim "late" does not exist` {
		t.Errorf("state %s, message %q", s.Status.State, c.Message)
	}
	claim(t, namespace, "late", corev1.ReadWriteOnce)
	awaitReason(t, s, orcav1alpha1.ReasonCompleted)
}

// F25, as far as one node shows it: a volume that another session holds.
func TestASessionWaitsForAVolumeThatAnotherHolds(t *testing.T) {
	t.Parallel()
	namespace := newHome(t)
	claim(t, namespace, "own", corev1.ReadWriteOncePod)
	first := on(t, namespace, "echo first > /mnt/memory/notes/note; sleep infinity", store("notes", "own", orcav1alpha1.AccessReadWrite))
	awaitReason(t, first, orcav1alpha1.ReasonRunning)
	second := on(t, namespace, "cat /mnt/memory/notes/note", store("notes", "own", orcav1alpha1.AccessReadWrite))
	awaitReason(t, second, orcav1alpha1.ReasonUnschedulable)
	if message := condition(second, orcav1alpha1.ConditionReady).Message; !strings.Contains(message, "ReadWriteOncePod") {
		t.Errorf("the message doesn't say what keeps it: %q", message)
	}
	ask(t, first, orcav1alpha1.DesiredStateEnded)
	awaitReason(t, second, orcav1alpha1.ReasonCompleted)
	if got := logs(t, second); got != "first\n" {
		t.Errorf("the second session reads %q", got)
	}
}

// F21: storage that doesn't heed fsGroup. Every node has the folder, and only
// root may write there.
func TestAStoreThatRefusesToBeWrittenStartsNoAgent(t *testing.T) {
	t.Parallel()
	namespace := newHome(t)
	locked := newClaim(namespace, "locked", corev1.ReadWriteOnce)
	locked.Spec.StorageClassName, locked.Spec.VolumeName = new(""), namespace
	create(t, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes: locked.Spec.AccessModes, Capacity: locked.Spec.Resources.Requests, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/usr/share"}},
		},
	})
	create(t, locked)
	s := on(t, namespace, "echo ran", store("notes", "locked", orcav1alpha1.AccessReadWrite))
	awaitSetupFailed(t, s, orcav1alpha1.ReasonMemoryStoreUnavailable,
		`resource "notes": claim "locked": user and group 1000 may not write at the volume's root; its driver may not heed fsGroup`)
	if out := logs(t, s); strings.Contains(out, "ran\n") {
		t.Errorf("the agent ran:\n%s", out)
	}
}
