// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// reserved are the variables that a session can't set: their values are the
// contract's.
var reserved = []string{"HOME", "TMPDIR"}

// gitQuiet is the git setting that keeps `git diff` from writing to the index
// of a read-only repository.
const gitQuiet = "diff.autoRefreshIndex"

// platform returns the variables that every agent is given.
func platform() []manifest.EnvVar {
	return []manifest.EnvVar{
		{Name: "HOME", Value: layout.Home},
		{Name: "TMPDIR", Value: layout.Tmp},
		// Without these, `git status` and imports try to write to read-only
		// trees: harmless, but each try is reported as a denied write.
		{Name: "GIT_OPTIONAL_LOCKS", Value: "0"},
		{Name: "PYTHONPYCACHEPREFIX", Value: layout.Home + "/.cache/pycache"},
	}
}

// variables is an environment in the making: each name once, in the order in
// which the names first came.
type variables struct {
	names  []string
	values map[string]string
}

func (v *variables) set(name, value string) {
	if _, known := v.values[name]; !known {
		v.names = append(v.names, name)
	}
	v.values[name] = value
}

// list returns the environment as execve takes it.
func (v *variables) list() []string {
	list := make([]string, 0, len(v.names))
	for _, name := range v.names {
		list = append(list, name+"="+v.values[name])
	}
	return list
}

// environment returns what the agent is given: the container's own
// environment, over it the platform's variables, over those the session's. The
// last value of a name wins.
func environment(container []string, session []manifest.EnvVar) *variables {
	result := &variables{values: map[string]string{}}
	for _, entry := range container {
		if name, value, found := strings.Cut(entry, "="); found {
			result.set(name, value)
		}
	}
	for _, variable := range platform() {
		result.set(variable.Name, variable.Value)
	}
	for _, variable := range session {
		if !slices.Contains(reserved, variable.Name) {
			result.set(variable.Name, variable.Value)
		}
	}
	result.addGitConfig()
	return result
}

// addGitConfig appends gitQuiet to the git settings that the environment may
// carry already. It leaves them alone if they decide about it themselves, or
// if git can't read them.
func (v *variables) addGitConfig() {
	count, err := strconv.Atoi(cmp.Or(v.values["GIT_CONFIG_COUNT"], "0"))
	if err != nil || count < 0 {
		return
	}
	for i := range count {
		key, set := v.values["GIT_CONFIG_KEY_"+strconv.Itoa(i)]
		if !set || strings.EqualFold(key, gitQuiet) {
			return
		}
	}
	v.set("GIT_CONFIG_COUNT", strconv.Itoa(count+1))
	v.set("GIT_CONFIG_KEY_"+strconv.Itoa(count), gitQuiet)
	v.set("GIT_CONFIG_VALUE_"+strconv.Itoa(count), "false")
}
