// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
)

// HelperSubcommand is the program's subcommand that calls Helper.
const HelperSubcommand = "git-credential"

// Helper is git's credential helper, which git and Git LFS ask for the
// credential of a server. It answers for the repository's own alone and
// remembers nothing. It returns an exit code.
func Helper(arguments []string) int {
	if len(arguments) != 1 || arguments[0] != "get" {
		return 0 // What git wants stored or erased is not ours.
	}
	grant, err := readGrant()
	if err == nil {
		err = grant.answer(os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "orca-sandbox: credential helper:", err)
		return 1
	}
	return 0
}

// answer reads a request of git's and writes the credential if it is for the
// server that was asked for.
func (g Grant) answer(request io.Reader, answer io.Writer) error {
	asked, err := readRequest(request)
	if err != nil || asked != g.Endpoint || g.Folder == "" {
		return err
	}
	secret, err := Read(g.Name, g.Folder)
	if err != nil {
		return err
	}
	if err := secret.Check(g.Endpoint); err != nil {
		return err
	}
	username := secret.Username
	if username == "" {
		username = defaultUsername
	}
	_, err = fmt.Fprintf(answer, "username=%s\npassword=%s\n", username, secret.Password)
	return err
}

// readRequest returns the server that a request of git's is about.
func readRequest(request io.Reader) (Endpoint, error) {
	attributes := map[string]string{}
	lines := bufio.NewScanner(request)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), "=")
		if _, twice := attributes[name]; twice && !strings.HasSuffix(name, "[]") {
			return Endpoint{}, fmt.Errorf("the request says %q twice", name)
		}
		attributes[name] = value
	}
	return NewEndpoint(attributes["protocol"], attributes["host"]), lines.Err()
}
