// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Command orca-sandbox is the program inside a sandbox pod: setup prepares
// what the agent's container mounts, run is that container's process 1 and
// starts the agent, exec runs a tool call beside it, started is the container's
// startup probe.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/confine"
	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/credential"
	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/gitbox"
	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/toolcall"
)

const usage = `Usage:
  orca-sandbox setup --manifest=FILE --manifest-digest=DIGEST --inputs=DIR --sealed=DIR --work=DIR --bin=DIR
      Install this program in --bin, clone repositories and make the read-only tree
      in --sealed. Nothing stays in --work, which is best in memory.
      --termination-message=FILE  where the result is written (default /dev/termination-log)
  orca-sandbox run --manifest=FILE --manifest-digest=DIGEST
      As process 1 of the sandbox: start the agent and look after its processes.
  orca-sandbox exec [--manifest=FILE] [--manifest-digest=DIGEST] -- PROGRAM [ARGUMENT...]
      Run a program beside the agent, under the same policy, and end as it does.
      The digest is that of ORCA_MANIFEST_DIGEST if none is given. Exit code 125:
      the policy could not be established; 126, 127: the program could not be executed.
  orca-sandbox started
      Succeed once the sandbox's process 1 has started the agent.
`

// exitUsage is the exit code of a command line that makes no sense.
const exitUsage = 2

// commands maps a subcommand to what does its work, given the arguments after
// the subcommand, and returns the exit code.
var commands = map[string]func(arguments []string) int{
	"setup":   setupCommand,
	"run":     runCommand,
	"started": startedCommand,
	"exec":    execCommand,

	confine.Subcommand:  confineCommand,
	toolcall.Subcommand: execBackCommand,

	gitbox.Subcommand:           gitbox.Enter,
	credential.HelperSubcommand: credential.Helper,
	credential.SSHSubcommand:    credential.SSH,
}

// The main goroutine stays on the main thread, because the name of a process
// is the name of that thread.
func init() { runtime.LockOSThread() }

func main() {
	os.Exit(dispatch(os.Args[1:]))
}

func dispatch(arguments []string) int {
	if len(arguments) == 0 {
		return refuse("a subcommand is required")
	}
	switch name := arguments[0]; name {
	case "help", "-h", "-help", "--help":
		fmt.Fprint(os.Stderr, usage)
		return exitUsage
	default:
		command, known := commands[name]
		if !known {
			return refuse(fmt.Sprintf("unknown subcommand %q", name))
		}
		return command(arguments[1:])
	}
}

// refuse explains a command line that makes no sense.
func refuse(reason string) int {
	fmt.Fprintf(os.Stderr, "orca-sandbox: %s\n%s", reason, usage)
	return exitUsage
}

// newFlags returns an empty set of flags for a subcommand.
func newFlags(name string) *flag.FlagSet {
	flags := flag.NewFlagSet("orca-sandbox "+name, flag.ContinueOnError)
	flags.Usage = func() { fmt.Fprint(flags.Output(), usage) }
	return flags
}

// parse reads the arguments of a subcommand, of which every flag must end up
// with a value. It reports whether they make sense and explains if not.
func parse(flags *flag.FlagSet, arguments []string) bool {
	if err := flags.Parse(arguments); err != nil {
		return false // Parse has explained it.
	}
	if flags.NArg() > 0 {
		refuse(fmt.Sprintf("unexpected argument %q", flags.Arg(0)))
		return false
	}
	return complete(flags)
}

// complete reports whether every flag has a value, and explains if not.
func complete(flags *flag.FlagSet) bool {
	missing := ""
	flags.VisitAll(func(f *flag.Flag) {
		if f.Value.String() == "" {
			missing = f.Name
		}
	})
	if missing != "" {
		refuse(fmt.Sprintf("--%s is required", missing))
	}
	return missing == ""
}
