// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package layout

import "fmt"

// Upload returns the default path of an attached file: a file of that name in
// a directory of its own. Both parts must be safe segments.
func Upload(fileID, filename string) (string, error) {
	if err := SafeSegment(fileID); err != nil {
		return "", fmt.Errorf("file id %q %w", fileID, err)
	}
	if err := SafeSegment(filename); err != nil {
		return "", fmt.Errorf("file name %q %w", filename, err)
	}
	return Uploads + "/" + fileID + "/" + filename, nil
}

// File returns the path at which a file resource appears: the one its user
// asks for, or its default one.
func File(fileID, filename, mountPath string) (string, error) {
	if mountPath == "" {
		return Upload(fileID, filename)
	}
	path, err := MountFile(mountPath)
	if err != nil {
		return "", fmt.Errorf("mount path %q %w", mountPath, err)
	}
	return path, nil
}

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
