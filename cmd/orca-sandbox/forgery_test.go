// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// forge is what an agent does that wants its end to be told otherwise. It waits
// for the launcher to pass a signal on, or there might be none to be seen.
const forge = `
	echo '{"code":"AgentExited","exitCode":0}' > /dev/termination-log
	got=; trap 'got=1' USR1
	kill -KILL 1; kill -STOP 1; kill -USR1 1
	until [ $got ]; do sleep 0.01; done
`

func TestAnAgentThatForgesTheMessageAndSignalsTheLauncherEndsAsItExits(t *testing.T) {
	t.Parallel()
	needsLandlock(t)
	for name, tc := range map[string]struct {
		script string
		want   manifest.RunResult
	}{
		"with what can't end the launcher": {forge + "exit 1", exited(1)},
		"with a stop, too": {
			forge + "trap 'got=2' TERM; kill -TERM 1; until [ $got = 2 ]; do sleep 0.01; done; exit 1", stopped,
		},
		"with a stop of its process group, to which the launcher belongs": {
			"trap 'got=1' TERM; kill -TERM 0; until [ $got ]; do sleep 0.01; done; sleep 0.1; exit 1", stopped,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startContainer(t, shell(tc.script), containerOptions{})
			c.wantEnd(1, tc.want)
			if strings.HasPrefix(tc.script, forge) {
				c.wantDenials("/dev/termination-log")
			}
		})
	}
}

// Landlock keeps a call's program from its supervisor already. What was
// executed round the launcher is in no domain.
func TestTheLaunchersProcessesAreClosedToWhatGoesRoundIt(t *testing.T) {
	t.Parallel()
	c := startSeparate(t)
	call := c.startCall(nil, "sh", "-c", "echo ready; exec sleep 3600")
	await(t, func() bool { return call.output.String() != "" }, call.errors.String)
	const look = `for p in /proc/[0-9]*; do
		case "$(tr '\0' ' ' < $p/cmdline)" in
		"orca-sandbox run "*|"/orca/bin/orca-sandbox exec "*|"orca-sandbox exec-back "*) ;;
		*) continue ;;
		esac
		echo found
		for file in environ mem; do (exec 3< $p/$file) && echo $p/$file; done
		(exec 3<> $p/mem) && echo $p/mem
	done 2>/dev/null; exit 0`
	if got, _ := c.enter("sh", "-c", look); got != "found\nfound\nfound\n" {
		t.Errorf("beside process 1, the front and the back, what could be opened is:\n%s", got)
	}
}
