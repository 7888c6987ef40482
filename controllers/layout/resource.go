// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package layout

import "cmp"

// FilePart is a field of a file resource that its path comes from.
type FilePart string

// What a file's path comes from: MountPath alone where it is given, else
// FileID, and Filename or, where that is absent, Key.
const (
	FileID    FilePart = "fileID"
	Filename  FilePart = "filename"
	Key       FilePart = "key"
	MountPath FilePart = "mountPath"
)

// FileError is about a file resource that no path can be derived for.
type FileError struct {
	// Part is what is wrong, Value its value.
	Part  FilePart
	Value string
	// Rule is what Value breaks. It doesn't repeat the value.
	Rule error
}

// Error names the part and the rule. The value is left out: it may be long.
func (e *FileError) Error() string { return string(e.Part) + " " + e.Rule.Error() }

// Unwrap returns the rule.
func (e *FileError) Unwrap() error { return e.Rule }

// File returns the path at which a file resource appears: the one its user
// asks for or, by default, a file of its name in a directory of its own. Where
// it has no name, it is called by the key of its source. Its errors are
// FileErrors.
func File(fileID, filename, key, mountPath string) (string, error) {
	if mountPath != "" {
		path, err := MountFile(mountPath)
		if err != nil {
			return "", &FileError{Part: MountPath, Value: mountPath, Rule: err}
		}
		return path, nil
	}
	if err := SafeSegment(fileID); err != nil {
		return "", &FileError{Part: FileID, Value: fileID, Rule: err}
	}
	part, name := Filename, cmp.Or(filename, key)
	if filename == "" {
		part = Key
	}
	if err := SafeSegment(name); err != nil {
		return "", &FileError{Part: part, Value: name, Rule: err}
	}
	return FileDirectory(fileID) + "/" + name, nil
}

// FileDirectory returns the directory of its own that a file appears in unless
// its user asks for another path.
func FileDirectory(fileID string) string { return Uploads + "/" + fileID }

// MemoryStore returns the directory at which a memory store appears: its name
// where that is a safe segment, else its id.
func MemoryStore(storeID, storeName string) string {
	if SafeSegment(storeName) != nil {
		return Memory + "/" + storeID
	}
	return Memory + "/" + storeName
}

// Denial returns the line that tells an agent why a write was refused and
// where its files belong. The path is the refused one, made absolute.
func Denial(path string) string {
	return "write denied for " + path + "; user-downloadable files must be written under " + Outputs + "/"
}
