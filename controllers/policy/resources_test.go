// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/policy"
)

const (
	readOnly  = orcav1alpha1.AccessReadOnly
	readWrite = orcav1alpha1.AccessReadWrite
)

type (
	resource = orcav1alpha1.SessionResource
	access   = orcav1alpha1.Access
)

// repository returns a repository in /workspace/<name>, or at the given path.
func repository(name string, access orcav1alpha1.Access, mountPath string) resource {
	return resource{Name: name, GitRepository: orcav1alpha1.GitRepositoryResource{
		URL: "https://git.test/org/" + name + ".git", Access: access, MountPath: mountPath,
	}}
}

// store returns a store in /mnt/memory/<storeName>, on a claim of its own.
func store(name string, access orcav1alpha1.Access, storeName string) resource {
	return resource{Name: name, MemoryStore: orcav1alpha1.MemoryStoreResource{
		StoreID: "mem_" + name, StoreName: storeName, Access: access, Source: onClaim("claim-" + name),
	}}
}

func onClaim(claim string) orcav1alpha1.MemoryStoreSource {
	return orcav1alpha1.MemoryStoreSource{PersistentVolumeClaim: orcav1alpha1.ClaimReference{ClaimName: claim}}
}

// sharing returns stores with paths of their own on one claim.
func sharing(accesses ...orcav1alpha1.Access) []resource {
	var out []resource
	for i, access := range accesses {
		s := store(fmt.Sprintf("s%d", i), access, "")
		s.MemoryStore.Source = onClaim("notes")
		out = append(out, s)
	}
	return out
}

func many(count int, one func(name string) resource) []resource {
	var out []resource
	for i := range count {
		out = append(out, one(fmt.Sprintf("r%d", i)))
	}
	return out
}

func TestSessionsWithStoresAndRepositories(t *testing.T) {
	stores := func(count int) []resource {
		return many(count, func(name string) resource { return store(name, readWrite, "") })
	}
	repositories := func(count int) []resource {
		return many(count, func(name string) resource { return repository(name, readWrite, "") })
	}
	refused := func(reason, resource, field string) []summary {
		return []summary{{reason, resource, "spec.resources" + field}}
	}
	cases := map[string]struct {
		resources []resource
		want      []summary
	}{
		"eight of each, all writable": {resources: append(stores(8), repositories(8)...)},
		"nine stores":                 {stores(9), refused("LimitExceeded", "", "")},
		"nine repositories":           {repositories(9), refused("LimitExceeded", "", "")},

		"two stores of one name":                     {[]resource{store("a", readOnly, "Notes"), store("b", readOnly, "Notes")}, refused("DuplicateMountPath", "b", "[1].memoryStore")},
		"the same, one of them writable":             {[]resource{store("a", readWrite, "Notes"), store("b", readOnly, "Notes")}, refused("DuplicateMountPath", "b", "[1].memoryStore")},
		"a store named as another is called":         {[]resource{store("a", readOnly, ""), store("b", readOnly, "mem_a")}, refused("DuplicateMountPath", "b", "[1].memoryStore")},
		"F60 stores whose names differ in case":      {resources: []resource{store("a", readWrite, "Notes"), store("b", readWrite, "notes")}},
		"stores in unsafe names are told by id":      {resources: []resource{store("a", readWrite, "a/b"), store("b", readWrite, "a/b")}},
		"P28 one claim twice, read-only":             {resources: sharing(readOnly, "")},
		"P28 one claim twice, writable":              {sharing(readOnly, readWrite), refused("OverlappingRoots", "s1", "[1].memoryStore.source.persistentVolumeClaim.claimName")},
		"one claim twice, writable by the first":     {sharing(readWrite, readOnly), refused("OverlappingRoots", "s1", "[1].memoryStore.source.persistentVolumeClaim.claimName")},
		"a file in a store":                          {[]resource{store("a", readOnly, "n"), file("f", "/mnt/memory/n/f")}, refused("MountConflict", "f", "[1].file.mountPath")},
		"a repository in a store":                    {[]resource{repository("r", readOnly, "/mnt/memory/n/r"), store("a", readOnly, "n")}, refused("MountConflict", "r", "[0].gitRepository.mountPath")},
		"a repository where a store is":              {[]resource{repository("r", readOnly, "/mnt/memory/n"), store("a", readOnly, "n")}, refused("MountConflict", "r", "[0].gitRepository.mountPath")},
		"a file where a store is":                    {[]resource{file("f", "/mnt/memory/n"), store("z", readOnly, "n")}, refused("MountConflict", "f", "[0].file.mountPath")},
		"a file in a writable store":                 {[]resource{store("a", readWrite, "n"), file("f", "/mnt/memory/n/f")}, refused("OverlappingRoots", "f", "[1].file.mountPath")},
		"a writable repository in a store":           {[]resource{store("a", readOnly, "n"), repository("r", readWrite, "/mnt/memory/n/r")}, refused("OverlappingRoots", "r", "[1].gitRepository.mountPath")},
		"a store in a read-only repository":          {resources: []resource{store("a", readOnly, "n"), repository("r", readOnly, "/mnt/memory")}},
		"a store in a writable repository":           {[]resource{store("a", readOnly, "n"), repository("r", readWrite, "/mnt/memory")}, refused("OverlappingRoots", "a", "[0].memoryStore")},
		"a writable store in a read-only repository": {[]resource{store("a", readWrite, "n"), repository("r", readOnly, "/mnt/memory")}, refused("OverlappingRoots", "a", "[0].memoryStore")},

		"F13 two repositories in one directory":          {[]resource{repository("app", readOnly, ""), repository("b", readOnly, "/workspace/app")}, refused("MountConflict", "b", "[1].gitRepository.mountPath")},
		"F13 the same, one of them writable":             {[]resource{repository("app", readOnly, ""), repository("b", readWrite, "/workspace/app")}, refused("OverlappingRoots", "b", "[1].gitRepository.mountPath")},
		"F13 the same, both of them writable":            {[]resource{repository("app", readWrite, ""), repository("b", readWrite, "/workspace/app")}, refused("OverlappingRoots", "b", "[1].gitRepository.mountPath")},
		"F13 repositories that differ in case":           {resources: []resource{repository("app", readWrite, ""), repository("b", readWrite, "/workspace/App")}},
		"F18 a repository with a slash and one without":  {[]resource{repository("app", readOnly, ""), repository("b", readOnly, "/workspace/app/")}, refused("MountConflict", "b", "[1].gitRepository.mountPath")},
		"P27 a repository whose name begins as another":  {resources: []resource{repository("app", readWrite, ""), repository("app2", readWrite, "")}},
		"F17 a file in a read-only repository":           {resources: []resource{repository("app", readOnly, ""), file("f", "/workspace/app/data/in")}},
		"a file in a writable repository":                {[]resource{file("f", "/workspace/app/f"), repository("app", readWrite, "")}, refused("OverlappingRoots", "f", "[0].file.mountPath")},
		"F60 a file in a directory of another case":      {resources: []resource{repository("app", readWrite, "/workspace/App"), file("f", "/workspace/app/x")}},
		"a file above a writable repository":             {[]resource{file("f", "/srv"), repository("app", readWrite, "/srv/app")}, refused("OverlappingRoots", "app", "[1].gitRepository.mountPath")},
		"a repository in a read-only repository":         {resources: []resource{repository("app", readOnly, ""), repository("lib", readOnly, "/workspace/app/lib")}},
		"a writable one in it":                           {[]resource{repository("app", readOnly, ""), repository("lib", readWrite, "/workspace/app/lib")}, refused("OverlappingRoots", "lib", "[1].gitRepository.mountPath")},
		"a writable one above it":                        {[]resource{repository("app", readWrite, "/srv"), repository("lib", readOnly, "/srv/lib")}, refused("OverlappingRoots", "lib", "[1].gitRepository.mountPath")},
		"a repository at the outputs":                    {[]resource{repository("app", readOnly, "/mnt/session/outputs/")}, refused("OverlappingRoots", "app", "[0].gitRepository.mountPath")},
		"a writable repository in the scratch folder":    {[]resource{repository("app", readWrite, "/tmp/app")}, refused("OverlappingRoots", "app", "[0].gitRepository.mountPath")},
		"P27 a repository above the reserved folder":     {[]resource{repository("app", readOnly, "/workspace")}, refused("ReservedRoot", "app", "[0].gitRepository.mountPath")},
		"a repository that is called as that":            {[]resource{repository("skills", readOnly, "")}, refused("ReservedRoot", "skills", "[0].gitRepository")},
		"P27 a repository beside the reserved folder":    {resources: []resource{repository("skills-x", readWrite, "")}},
		"a writable repository in a file's directory":    {[]resource{file("f", ""), repository("app", readWrite, "/mnt/session/uploads/file_f/app")}, refused("OverlappingRoots", "app", "[1].gitRepository.mountPath")},
		"a writable repository above the files":          {[]resource{file("f", ""), repository("app", readWrite, "/mnt/session/uploads")}, refused("OverlappingRoots", "f", "[0].file")},
		"F18 a file's path is not canonical, a slash":    {[]resource{file("f", "/data/in/")}, refused("InvalidSpec", "f", "[0].file.mountPath")},
		"a repository's path is not canonical":           {[]resource{repository("app", readOnly, "/srv//app")}, refused("InvalidSpec", "app", "[0].gitRepository.mountPath")},
		"F27 a repository where nothing may be":          {[]resource{repository("app", readOnly, "/usr/bin")}, refused("InvalidSpec", "app", "[0].gitRepository.mountPath")},
		"an address that gives no directory":             {[]resource{withURL("https://git.test/org/..")}, refused("InvalidSpec", "app", "[0].gitRepository.url")},
		"F06 an address whose directory is an option":    {[]resource{withURL("https://git.test/org/--config=a.git")}, refused("InvalidSpec", "app", "[0].gitRepository.url")},
		"an id and a name that are no segments":          {[]resource{{Name: "s", MemoryStore: orcav1alpha1.MemoryStoreResource{StoreID: ".."}}}, refused("InvalidSpec", "s", "[0].memoryStore.storeID")},
		"F20 ids that differ in case, and with dots":     {resources: []resource{withID("FILE_1"), withID("file_1"), withID("file.a-b"), withID("file-a.b")}},
		"two files of one id, whose names differ":        {resources: []resource{file("a", ""), named("b", "file_a", "Q3 report (final) ä.xlsx")}},
		"F20 two files of one id and name":               {[]resource{file("a", ""), named("b", "file_a", "a")}, refused("MountConflict", "b", "[1].file")},
		"F20 a name of 255 bytes":                        {resources: []resource{named("a", "file_a", strings.Repeat("n", 255))}},
		"F20 a name of 256 bytes":                        {[]resource{named("a", "file_a", strings.Repeat("ä", 128))}, refused("InvalidSpec", "a", "[0].file.filename")},
		"a conflict doesn't depend on the list's order":  {[]resource{repository("b", readOnly, "/srv"), repository("a", readOnly, "/srv")}, refused("MountConflict", "b", "[0].gitRepository.mountPath")},
		"what is wrong in several ways is told in order": {[]resource{withURL("x"), store("s", readWrite, "n"), repository("r", readOnly, "/mnt/memory/n"), repository("q", readOnly, "/srv/q"), file("f", "/srv/q")}, []summary{{"InvalidSpec", "app", "spec.resources[0].gitRepository.url"}, {"OverlappingRoots", "r", "spec.resources[2].gitRepository.mountPath"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := policy.Session(session(tc.resources...), effective(t, ""))
			if diff := cmp.Diff(tc.want, summaries(got)); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

func withURL(url string) resource {
	return resource{Name: "app", GitRepository: orcav1alpha1.GitRepositoryResource{URL: url}}
}

func withID(id string) resource {
	out := file(strings.ToLower(id), "")
	out.File.FileID = id
	return out
}

func named(name, id, filename string) resource {
	out := file(name, "")
	out.File.FileID, out.File.Filename = id, filename
	return out
}

func TestMessagesNameBothResourcesAndPaths(t *testing.T) {
	long := "/srv/" + strings.Repeat("x", 200)
	cases := map[string]struct {
		resources []resource
		want      string
	}{
		"a file in a writable repository": {
			[]resource{repository("app", readWrite, ""), file("f", "/workspace/app/f")},
			`resource "f": spec.resources[1].file.mountPath: Invalid value: "/workspace/app/f": must not overlap '/workspace/app' of resource 'app', which is writable`,
		},
		"a writable repository in a read-only one": {
			[]resource{repository("app", readOnly, ""), repository("lib", readWrite, "/workspace/app/lib")},
			`resource "lib": spec.resources[1].gitRepository.mountPath: Invalid value: "/workspace/app/lib": must not overlap '/workspace/app' of resource 'app', since the agent can write here`,
		},
		"two repositories": {
			[]resource{repository("app", readOnly, ""), repository("b", readOnly, "/workspace/app")},
			`resource "b": spec.resources[1].gitRepository.mountPath: Invalid value: "/workspace/app": must not have the directory of resource 'app'; set mountPath`,
		},
		"two stores": {
			[]resource{store("a", readOnly, "n"), store("b", readOnly, "n")},
			`resource "b": spec.resources[1].memoryStore: Invalid value: "/mnt/memory/n": must not have the path of resource 'a'`,
		},
		"two files": {
			[]resource{file("a", ""), file("b", "/mnt/session/uploads/file_a/a")},
			`resource "b": spec.resources[1].file.mountPath: Invalid value: "/mnt/session/uploads/file_a/a": must not have the path of resource 'a'`,
		},
		"a file in a store": {
			[]resource{store("a", readOnly, "n"), file("f", "/mnt/memory/n/f")},
			`resource "f": spec.resources[1].file.mountPath: Invalid value: "/mnt/memory/n/f": must not lie in '/mnt/memory/n' of resource 'a', which is a memory store`,
		},
		"one claim": {
			sharing(readWrite, readOnly),
			`resource "s1": spec.resources[1].memoryStore.source.persistentVolumeClaim.claimName: Invalid value: "notes": must not be the claim of resource 's0' as well, unless all its stores are ReadOnly`,
		},
		"long paths": {
			[]resource{repository("app", readWrite, long), file("f", long+"/f")},
			fmt.Sprintf(`resource "f": spec.resources[1].file.mountPath: Invalid value: "%s…": must not overlap '%s…' of resource 'app', which is writable`, long[:77], long[:77]),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := policy.Session(session(tc.resources...), effective(t, "")).Message(statusLimit)
			if got != tc.want {
				t.Errorf("message\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}
