// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// SSHSubcommand is the program's subcommand that calls SSH.
const SSHSubcommand = "git-ssh"

// exitSSH is the exit code with which ssh itself fails.
const exitSSH = 255

// accountsLibrary gives a program accounts from a file. ssh does not run as a
// user that has none, as a sandbox's may.
const accountsLibrary = "libnss_wrapper.so"

// SSH stands in for ssh, which git and Git LFS start with the options of ssh. It
// becomes ssh with the private key if it is going to the repository's own
// server, and without any otherwise. It returns an exit code if it fails.
func SSH(arguments []string) int {
	err := becomeSSH(arguments)
	fmt.Fprintln(os.Stderr, "orca-sandbox: ssh:", err)
	return exitSSH
}

func becomeSSH(arguments []string) error {
	grant, err := readGrant()
	if err != nil {
		return err
	}
	call, err := parseCall(arguments)
	if err != nil {
		return err
	}
	program, err := exec.LookPath("ssh")
	if err != nil {
		return err
	}
	return syscall.Exec(program, grant.command(call), grant.environment())
}

// call is what git asks of ssh.
type call struct {
	port string
	// options are those that are passed on.
	options []string
	// destination is the host, with the user before it if there is one.
	destination string
	command     []string
}

// parseCall reads the few options that git and Git LFS use.
func parseCall(arguments []string) (call, error) {
	var c call
	for len(arguments) > 0 && strings.HasPrefix(arguments[0], "-") {
		option := arguments[0]
		arguments = arguments[1:]
		switch {
		case option == "--":
			return c.finish(arguments)
		case option == "-4" || option == "-6":
			c.options = append(c.options, option)
		case (option == "-p" || option == "-o") && len(arguments) > 0:
			if err := c.set(option, arguments[0]); err != nil {
				return call{}, err
			}
			arguments = arguments[1:]
		default:
			return call{}, fmt.Errorf("the option %q is not supported", option)
		}
	}
	return c.finish(arguments)
}

func (c *call) set(option, value string) error {
	switch {
	case option == "-p":
		c.port = value
	case value == "SendEnv=GIT_PROTOCOL":
		c.options = append(c.options, option, value)
	default:
		return fmt.Errorf("the option %q is not supported", option+" "+value)
	}
	return nil
}

func (c call) finish(arguments []string) (call, error) {
	if len(arguments) == 0 || strings.HasPrefix(arguments[0], "-") {
		return call{}, fmt.Errorf("a host is required")
	}
	c.destination, c.command = arguments[0], arguments[1:]
	return c, nil
}

// endpoint returns the server that the call is for.
func (c call) endpoint() Endpoint {
	host := c.destination[strings.LastIndexByte(c.destination, '@')+1:]
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		host = "[" + host + "]"
	}
	if c.port != "" {
		host += ":" + c.port
	}
	return NewEndpoint("ssh", host)
}

// fixedOptions keep ssh from asking, from reading any configuration, and from
// waiting for a server that doesn't answer.
var fixedOptions = []string{
	"-F", "/dev/null", "-a", "-x", "-T",
	"-o", "BatchMode=yes",
	"-o", "StrictHostKeyChecking=yes",
	"-o", "GlobalKnownHostsFile=/dev/null",
	"-o", "UpdateHostKeys=no",
	"-o", "VerifyHostKeyDNS=no",
	"-o", "IdentitiesOnly=yes",
	"-o", "IdentityAgent=none",
	"-o", "PreferredAuthentications=publickey",
	"-o", "ConnectTimeout=30",
	"-o", "ServerAliveInterval=15",
	"-o", "ServerAliveCountMax=4",
}

// command returns the argument vector of ssh.
func (g Grant) command(c call) []string {
	key, knownHosts := "none", "/dev/null"
	if g.Key != "" && c.endpoint() == g.Endpoint {
		key, knownHosts = g.Key, g.KnownHosts
	}
	arguments := slices.Concat([]string{"ssh"}, fixedOptions, []string{
		"-o", "IdentityFile=" + key, "-o", "UserKnownHostsFile=" + knownHosts,
	}, c.options)
	if c.port != "" {
		arguments = append(arguments, "-p", c.port)
	}
	return slices.Concat(arguments, []string{"--", c.destination}, c.command)
}

func (g Grant) environment() []string {
	variables := os.Environ()
	if g.Accounts != "" {
		variables = append(variables, "LD_PRELOAD="+accountsLibrary, "NSS_WRAPPER_PASSWD="+g.Accounts, "NSS_WRAPPER_GROUP=/etc/group")
	}
	return variables
}
