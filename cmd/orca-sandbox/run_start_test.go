// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// exited is the result of an agent that ended by itself or by a signal.
func exited(exitCode int32) manifest.RunResult {
	return manifest.RunResult{Code: manifest.RunAgentExited, ExitCode: &exitCode}
}

// readReport waits for a report agent and returns what it printed.
func readReport(t *testing.T, c *container) report {
	t.Helper()
	c.wantEnd(0, exited(0))
	var got report
	if err := json.Unmarshal([]byte(c.output.String()), &got); err != nil {
		t.Fatalf("%v: %s", err, c.output)
	}
	return got
}

func TestTheAgentGetsItsArgumentsByteForByte(t *testing.T) {
	t.Parallel()
	arguments := []string{
		"", "$(HOME)", "$$(HOME)", "${HOME}", "`id`", "a\nb", "\t\r\x01\x7f", " ", "--", "-c", "*", "~",
		`"'\`, "'; exit 9 #", "é", "e\u0301", "\u202e", "\ufffd", "<&>", strings.Repeat("x", 32_768), "",
	}
	got := readReport(t, startContainer(t, agent("report", arguments...), containerOptions{}))
	if diff := cmp.Diff(append([]string{agentProgram}, arguments...), got.Arguments); diff != "" {
		t.Errorf("the arguments differ (-want +got):\n%s", diff)
	}
	if got.Folder != "/workspace" {
		t.Errorf("the working directory is %s, want /workspace", got.Folder)
	}
}

func TestTheAgentsEnvironmentIsTheContainersThePlatformsAndTheSessions(t *testing.T) {
	t.Parallel()
	sandbox := agent("report")
	sandbox.Env = append(sandbox.Env, []manifest.EnvVar{
		{Name: "LANG", Value: "$(HOME)\nx=y"},
		{Name: "EMPTY", Value: ""},
		{Name: "HOME", Value: "/elsewhere"},
		{Name: "TMPDIR", Value: "/elsewhere"},
		{Name: "GIT_OPTIONAL_LOCKS", Value: "1"},
		{Name: "IMAGE_TOO", Value: "session"},
	}...)
	options := containerOptions{environment: append(ordinaryEnvironment(), "IMAGE=image", "IMAGE_TOO=image", "LANG=C")}
	got := readReport(t, startContainer(t, sandbox, options)).Environment
	slices.Sort(got)
	want := []string{
		"EMPTY=",
		"GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=diff.autoRefreshIndex",
		"GIT_CONFIG_VALUE_0=false",
		"GIT_OPTIONAL_LOCKS=1",
		"HOME=/tmp/home",
		"HOSTNAME=sandbox-0",
		"IMAGE=image",
		"IMAGE_TOO=session",
		"KUBERNETES_PORT=1",
		"LANG=$(HOME)\nx=y",
		agentVariable + "=report",
		"PATH=/usr/bin:/bin",
		"PYTHONPYCACHEPREFIX=/tmp/home/.cache/pycache",
		"TMPDIR=/tmp",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the environment differs (-want +got):\n%s", diff)
	}
}

func TestWhatTheAgentFindsWhenItStarts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script string // of the container, before the launcher
		agent  string
		want   string
	}{
		"HOME is private":                            {"", `stat -c %a "$HOME"`, "700\n"},
		"HOME is private in a volume with a group":   {"chmod 3777 /tmp", `stat -c %a "$HOME"`, "700\n"},
		"HOME is private whatever the umask":         {"", `umask; stat -c %a "$HOME"; touch "$HOME/x" && echo ok`, "0022\n700\nok\n"},
		"standard input is empty":                    {"", `cat; echo $?`, "0\n"},
		"the limit on open files is the container's": {"", `ulimit -n`, "512\n"},
		// The C library's own signals, 32 and 33, are as make leaves them.
		"no signal is blocked or ignored":                            {"", `while read -r key value; do case $key in SigBlk:|SigIgn:) printf '%s%x\n' $key $((0x$value & 0x7fffffff)) ;; esac; done </proc/self/status`, "SigBlk:0\nSigIgn:0\n"},
		"nothing is open but the standard streams and what ls opens": {"", `exec ls /proc/self/fd`, "0\n1\n2\n3\n"},
		"the launcher's memory is closed":                            {"", `cat /proc/1/mem 2>/dev/null || echo closed; cat /proc/1/environ 2>/dev/null || echo closed`, "closed\nclosed\n"},
		"the agent can be traced by its own kind":                    {"", `cat /proc/$$/environ >/dev/null && echo open`, "open\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startContainer(t, shell(tc.agent), containerOptions{script: tc.script})
			c.wantEnd(0, exited(0))
			if diff := cmp.Diff(tc.want, c.output.String()); diff != "" {
				t.Errorf("the output differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStandardErrorPassesThroughApartFromStandardOutput(t *testing.T) {
	t.Parallel()
	c := startContainer(t, shell(`printf out; printf err >&2`), containerOptions{})
	c.wantEnd(0, exited(0))
	if c.output.String() != "out" || c.errors.String() != "err" {
		t.Errorf("standard output %q, standard error %q", c.output, c.errors)
	}
}

func TestProgramsThatCantBeExecuted(t *testing.T) {
	t.Parallel()
	const (
		files = `mkdir -p data/path/folder
			printf 'no program' > data/path/text; chmod 755 data/path/text
			printf '#!/no/such/interpreter\n' > data/path/a-script; chmod 755 data/path/a-script
			printf '#!/bin/sh\n' > data/path/closed; chmod 644 data/path/closed`
		notFound      = manifest.RunCommandNotFound
		notExecutable = manifest.RunCommandNotExecutable
	)
	for name, tc := range map[string]struct {
		command  string
		code     manifest.RunCode
		exitCode int
		text     string
	}{
		"not in PATH":                  {"no-such-program", notFound, 127, `the agent's program "no-such-program" is not in the image`},
		"no such path":                 {"/no/such/program", notFound, 127, "is not in the image"},
		"a path below a file":          {"/data/path/text/x", notFound, 127, "is not in the image"},
		"no relative path":             {"./no-such-program", notFound, 127, "is not in the image"},
		"an empty name":                {"", notFound, 127, `the agent's program "" is not in the image`},
		"a folder":                     {"/data/path", notExecutable, 126, "is a directory"},
		"no permission":                {"/data/path/closed", notExecutable, 126, "permission denied"},
		"no permission in PATH":        {"closed", notExecutable, 126, "permission denied"},
		"neither program nor script":   {"/data/path/text", notExecutable, 126, "exec format error"},
		"a script without interpreter": {"a-script", notExecutable, 126, "the interpreter that it names is not in the image"},
		"a zero byte in the name":      {"/bin/sh\x00x", notExecutable, 126, "invalid argument"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sandbox := shell("echo it runs")
			sandbox.Command[0] = tc.command
			options := containerOptions{image: files, environment: []string{"PATH=/nowhere:/data/path:/usr/bin:/bin"}}
			c := startContainer(t, sandbox, options)
			c.wantEnd(tc.exitCode, manifest.RunResult{Code: tc.code, Path: tc.command})
			if got := c.errors.String(); !strings.Contains(got, tc.text) || strings.Count(got, "\n") != 1 {
				t.Errorf("standard error is %q, want one line with %q", got, tc.text)
			}
		})
	}
}

func TestTheProgramIsSearchedInTheAgentsOwnPath(t *testing.T) {
	t.Parallel()
	const files = `mkdir -p data/image data/session; for d in image session; do printf "#!/bin/sh\necho $d" > data/$d/tool; chmod 755 data/$d/tool; done`
	for name, tc := range map[string]struct {
		session []manifest.EnvVar
		want    string
	}{
		"the image's without one of the session": {nil, "image\n"},
		"the session's":                          {[]manifest.EnvVar{{Name: "PATH", Value: "/data/session:/bin"}}, "session\n"},
		"the last of the session's":              {[]manifest.EnvVar{{Name: "PATH", Value: "/bin"}, {Name: "PATH", Value: "/data/session"}}, "session\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sandbox := empty()
			sandbox.Args, sandbox.Env = []string{"tool"}, tc.session
			c := startContainer(t, sandbox, containerOptions{image: files, environment: []string{"PATH=/data/image:/bin"}})
			c.wantEnd(0, exited(0))
			if c.output.String() != tc.want {
				t.Errorf("ran %q, want %q", c.output, tc.want)
			}
		})
	}
}

func TestTheAgentIsNeverExecutedIfTheSandboxIsNotWhatWasPromised(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		options containerOptions
		path    string
		text    string
	}{
		"the manifest was edited": {containerOptions{digest: manifest.Digest([]byte("{}"))}, "/orca/manifest/sandbox.json", "it was changed after the pod was made"},
		"no manifest":             {containerOptions{noManifest: true}, "/orca/manifest/sandbox.json", "no such file"},
		"a HOME from before":      {containerOptions{script: "mkdir -m 777 /tmp/home"}, "/tmp/home", "each agent process must be given an empty /tmp"},
		"a file from before":      {containerOptions{script: "touch /tmp/lock"}, "/tmp/lock", "each agent process must be given an empty /tmp"},
		"no working directory":    {containerOptions{without: []string{"/workspace"}}, "/workspace", "entering the working directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startContainer(t, shell("echo it runs"), tc.options)
			c.wantEnd(125, manifest.RunResult{Code: manifest.RunPolicyUnverified, Path: tc.path})
			if got := c.errors.String(); !strings.Contains(got, tc.text) || c.output.String() != "" {
				t.Errorf("standard error is %q, want %q in it; output %q", got, tc.text, c.output)
			}
		})
	}
}

func TestStartedSucceedsOnceTheAgentIsExecuted(t *testing.T) {
	t.Parallel()
	for name, sandbox := range map[string]manifest.Sandbox{
		"with an agent":    shell("echo ready; exec sleep 3600"),
		"without an agent": empty(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fifo := filepath.Join(sharedFolder(t), "manifest")
			if err := syscall.Mkfifo(fifo, 0o644); err != nil {
				t.Fatal(err)
			}
			c := startContainer(t, sandbox, containerOptions{fifo: fifo})
			manifestFile, err := os.OpenFile(fifo, os.O_WRONLY, 0) // The launcher waits for its content.
			if err != nil {
				t.Fatal(err)
			}
			if output, exitCode := c.enter("/orca/bin/orca-sandbox", "started"); exitCode != 1 || output != "the agent is not started yet\n" {
				t.Errorf("before: exit code %d, output %q", exitCode, output)
			}
			early := "orca-sandbox: the write policy is not established: the agent is not started yet\n"
			if output, exitCode := c.enter("/orca/bin/orca-sandbox", "exec", "--manifest-digest="+c.digest, "--", "echo", "it runs"); exitCode != 125 || output != early {
				t.Errorf("a call before: exit code %d, output %q", exitCode, output)
			}
			encoded, err := manifest.Encode(sandbox)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := manifestFile.Write(encoded); err != nil {
				t.Fatal(err)
			}
			if err := manifestFile.Close(); err != nil {
				t.Fatal(err)
			}
			var last string
			await(t, func() bool {
				output, exitCode := c.enter("/orca/bin/orca-sandbox", "started")
				last = output
				return exitCode == 0
			}, func() string { return "started, which said " + last })
			if last != "" {
				t.Errorf("started succeeds and prints %q, want nothing", last)
			}
		})
	}
}

func TestNoOtherProcessCanNameProcess1(t *testing.T) {
	t.Parallel()
	c := startContainer(t, shell(`printf forged > /proc/1/comm; cat /proc/1/comm`), containerOptions{})
	c.wantEnd(0, exited(0))
	if c.output.String() != "orca-started\n" {
		t.Errorf("process 1 is named %q", c.output)
	}
}
