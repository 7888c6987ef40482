// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

// The oracle says the rules once more, as plainly as the contract does: it
// compares every pair, takes paths apart by itself, and knows addresses and refs
// from tables. It shares no code with what it judges.

// opinion is what the oracle, or the package, thinks of a session.
type opinion struct{ Admission, Start, Warnings []string }

// What a warning is about.
const (
	aboutDirectory    = "a file where every sandbox has a directory"
	aboutFiles        = "files on one path"
	aboutRepositories = "repositories in one directory"
	aboutStores       = "a resource inside a memory store"
	aboutReadOnly     = "read-only paths overlap"
	aboutClaims       = "have one claim"
	aboutIdle         = "is lost when the session goes idle"
)

type oracle struct {
	deployment       settings.Effective
	admission, start []string
	warnings         []string
	landed           []landing
}

// landing is a resource at a known place.
type landing struct {
	kind, path, root, claim string
	writable                bool
}

func (o *oracle) refuse(reason string)  { o.admission = append(o.admission, reason) }
func (o *oracle) conflict(about string) { o.start = append(o.start, "MountConflict"); o.warn(about) }
func (o *oracle) warn(about string)     { o.warnings = append(o.warnings, about) }
func (o *oracle) refuseIf(is bool, by string) {
	if is {
		o.refuse(by)
	}
}

func ask(session *orcav1alpha1.OrcaSession, deployment settings.Effective) opinion {
	o := &oracle{deployment: deployment}
	o.judgeAgent(&session.Spec)
	counts := map[string]int{}
	for _, r := range session.Spec.Resources {
		switch {
		case r.File.FileID != "":
			counts["file"]++
			o.judgeFile(r.File)
		case r.MemoryStore.StoreID != "":
			counts["store"]++
			o.judgeStore(r.MemoryStore)
		default:
			counts["repository"]++
			o.judgeRepository(r.GitRepository)
		}
	}
	o.refuseIf(counts["file"] > int(deployment.Limits.Files) || counts["store"] > 8 || counts["repository"] > 8, "LimitExceeded")
	for i, a := range o.landed {
		o.judgeAlone(a)
		for _, b := range o.landed[i+1:] {
			o.judgeClaims(a, b)
			if overlaps(a.root, b.root) {
				o.judgeOverlap(a, b)
			}
		}
	}
	return opinion{set(o.admission), set(append(o.start, o.admission...)), set(o.warnings)}
}

func set(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

func (o *oracle) judgeAgent(spec *orcav1alpha1.OrcaSessionSpec) {
	if o.deployment.Mode == "Separate" {
		o.refuseIf(len(spec.Command) > 0 || len(spec.Args) > 0 || len(spec.Env) > 0, "InvalidSpec")
		return
	}
	o.refuseIf(len(spec.Command) == 0 && len(o.deployment.Sandbox.Command) == 0, "InvalidSpec")
}

func (o *oracle) judgeFile(f orcav1alpha1.FileResource) {
	if f.Source.Artifact != nil {
		o.refuse("FileUnavailable")
	}
	if f.MountPath != "" {
		if !canonical(f.MountPath) {
			o.refuse("InvalidSpec")
			return
		}
		o.landed = append(o.landed, landing{kind: "file", path: f.MountPath, root: f.MountPath})
		return
	}
	name := f.Filename
	if name == "" {
		name = f.Source.ConfigMapKeyRef.Key
	}
	directory := "/mnt/session/uploads/" + f.FileID
	switch {
	case name == "": // Only the artifact store knows it.
		o.landed = append(o.landed, landing{kind: "file", root: directory})
	case !safe(name):
		o.refuse("InvalidSpec")
	default:
		o.landed = append(o.landed, landing{kind: "file", path: directory + "/" + name, root: directory})
	}
}

func (o *oracle) judgeStore(s orcav1alpha1.MemoryStoreResource) {
	name := s.StoreID
	if safe(s.StoreName) {
		name = s.StoreName
	}
	o.landed = append(o.landed, landing{
		kind: "store", path: "/mnt/memory/" + name, root: "/mnt/memory/" + name,
		claim: s.Source.PersistentVolumeClaim.ClaimName, writable: s.Access == "ReadWrite",
	})
}

func (o *oracle) judgeRepository(r orcav1alpha1.GitRepositoryResource) {
	if r.Access == "ReadWrite" {
		o.warn(aboutIdle)
	}
	address := addresses[r.URL]
	sound := address.sound || (address.http && o.deployment.Setup.AllowHTTP)
	o.refuseIf(!sound, "InvalidSpec")
	if r.Ref != nil {
		o.refuseIf(badRefs[r.Ref.Branch+r.Ref.Tag+r.Ref.Commit], "InvalidSpec")
	}
	path := strings.TrimSuffix(r.MountPath, "/")
	switch {
	case r.MountPath != "" && !canonical(path):
		o.refuse("InvalidSpec")
		return
	case r.MountPath == "" && !sound:
		return
	case r.MountPath == "" && address.name == "":
		o.refuse("InvalidSpec")
		return
	case r.MountPath == "":
		path = "/workspace/" + address.name
	}
	o.landed = append(o.landed, landing{kind: "repository", path: path, root: path, writable: r.Access == "ReadWrite"})
}

func (o *oracle) judgeAlone(a landing) {
	o.refuseIf(overlaps(a.root, "/workspace/skills"), "ReservedRoot")
	o.refuseIf(overlaps(a.root, "/mnt/session/outputs") || overlaps(a.root, "/tmp") || overlaps(a.root, "/dev/shm"), "OverlappingRoots")
	if a.kind == "file" && a.path != "" {
		for _, directory := range []string{"/workspace", "/workspace/skills", "/mnt/memory", "/mnt/session/uploads"} {
			if lies(directory, a.path) {
				o.conflict(aboutDirectory)
			}
		}
	}
}

func (o *oracle) judgeClaims(a, b landing) {
	switch {
	case a.kind != "store" || b.kind != "store" || a.claim != b.claim:
	case o.written(a.claim):
		o.refuse("OverlappingRoots")
	default:
		o.warn(aboutClaims)
	}
}

func (o *oracle) judgeOverlap(a, b landing) {
	same := a.kind == b.kind && a.path == b.path
	switch {
	case same && a.kind == "store":
		o.refuse("DuplicateMountPath")
	case a.writable || b.writable:
		o.refuse("OverlappingRoots")
	case same && a.kind == "file" && a.path != "":
		o.conflict(aboutFiles)
	case same && a.kind == "repository":
		o.conflict(aboutRepositories)
	case inStore(a, b) || inStore(b, a):
		o.conflict(aboutStores)
	default:
		o.warn(aboutReadOnly)
	}
}

func inStore(a, store landing) bool { return store.kind == "store" && lies(a.root, store.root) }

func (o *oracle) written(claim string) bool {
	for _, l := range o.landed {
		if l.kind == "store" && l.claim == claim && l.writable {
			return true
		}
	}
	return false
}

// lies reports whether a path is in another or at it, segment by segment.
func lies(path, in string) bool {
	inner, outer := strings.Split(path, "/"), strings.Split(in, "/")
	if len(inner) < len(outer) {
		return false
	}
	for i := range outer {
		if inner[i] != outer[i] {
			return false
		}
	}
	return true
}

func overlaps(a, b string) bool { return lies(a, b) || lies(b, a) }

func canonical(path string) bool {
	segments := strings.Split(path, "/")
	if len(path) > 1024 || len(segments) < 2 || segments[0] != "" {
		return false
	}
	for _, segment := range segments[1:] {
		if segment == "" || segment == "." || segment == ".." || len(segment) > 255 || strings.Contains(segment, ":") || !readable(segment) {
			return false
		}
	}
	for place := range strings.FieldsSeq("/proc /sys /dev /etc /bin /sbin /lib /lib64 /usr /boot /run /var/run /orca") {
		if lies(path, place) {
			return false
		}
	}
	return true
}

func safe(name string) bool {
	if name == "" || len(name) > 255 || name == "." || name == ".." || name == ".git" || name[0] == '-' || name[0] == ' ' || name[len(name)-1] == ' ' {
		return false
	}
	return !strings.ContainsAny(name, "/:") && readable(name)
}

func readable(text string) bool {
	for _, r := range text {
		if unicode.In(r, unicode.Cc, unicode.Cf) {
			return false
		}
	}
	return utf8.ValidString(text)
}
