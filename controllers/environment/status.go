// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/conditions"
	"github.com/orca-agent-engine/orca-operator/controllers/policy"
	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

// maxMessage is how many bytes a message of a status has at most.
const maxMessage = 896

// judge returns the status that an environment should have.
func judge(environment *orcav1alpha1.OrcaEnvironment, deployment settings.Effective, now time.Time) orcav1alpha1.OrcaEnvironmentStatus {
	status := *environment.Status.DeepCopy()
	status.ObservedGeneration = environment.Generation
	write := conditions.Writer{List: &status.Conditions, Generation: environment.Generation, Now: now}
	if violations := policy.Environment(environment, deployment); len(violations) > 0 {
		write.Stalled(violations.Reason(), violations.Message(maxMessage))
	} else {
		write.Reached(orcav1alpha1.ReasonAvailable, "sessions can start")
	}
	write.SetWhile(environment.Spec.Image != "" && deployment.Mode == settings.ModeSeparate,
		orcav1alpha1.ConditionImageIgnored, metav1.ConditionTrue, orcav1alpha1.ReasonSeparateMode,
		"sessions run in the operator's image; image has no effect")
	write.SetWhile(environment.Spec.Config.Networking.Type != "",
		orcav1alpha1.ConditionNetworkingEnforced, metav1.ConditionFalse, orcav1alpha1.ReasonNotEnforced,
		"networking is stored and not enforced; treat whatever a sandbox can reach as reachable")
	return status
}
