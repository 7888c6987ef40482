// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

const (
	// memory is the file system in which preparations are kept too; disk is the
	// one of the outputs.
	memory = "/tmp"
	disk   = "/mnt/session/outputs"
)

// work is what is measured.
type work struct {
	name string
	// files is how many files it makes, 0 if it isn't about them.
	files int
	// prepare runs once, before the first measurement.
	prepare string
	// in is the file system on which each run gets a new directory.
	in string
	// script is what is timed, in that directory.
	script string
}

// createFiles makes the files with Python, which a program for many files may
// well be written in.
const createFiles = `python3 -c "
for i in range(20000):
    with open(str(i), 'w') as f: f.write('x' * 1024)"`

// manyFiles is the Python code that makes as many files as it is told, 500 to a
// directory.
const manyFiles = `
import os
def make(count):
    for i in range(count):
        if i % 500 == 0: os.mkdir(str(i // 500))
        with open(f'{i // 500}/{i}', 'w') as f: f.write(str(i) * 50)
`

var works = []work{
	{name: "20,000 new files of 1 KiB, in `/tmp`", files: 20000, in: memory, script: createFiles},
	{name: "20,000 new files of 1 KiB, in the outputs", files: 20000, in: disk, script: createFiles},
	{
		name: "`tar -x` of 50,000 files, in the outputs", files: 50000,
		prepare: `mkdir /tmp/many && cd /tmp/many && python3 -c "` + manyFiles + `make(50000)" &&
			tar -cf /tmp/many.tar . && rm -rf /tmp/many`,
		in: disk, script: `tar -xf /tmp/many.tar`,
	},
	{
		name: "`git clone` of 20,000 files, in the outputs", files: 20000,
		prepare: `git init -q /tmp/repository && cd /tmp/repository && python3 -c "` + manyFiles + `make(20000)" &&
			git add -A && git -c user.name=bench -c user.email=bench@example.com -c maintenance.auto=false commit -qm all && git gc -q`,
		in: disk, script: `git clone -q file:///tmp/repository .`,
	},
	{
		name: "`go build` of `cmd/gofmt` with an empty cache",
		in:   disk, script: `CGO_ENABLED=0 GOCACHE=$PWD/cache ` + goInSandbox + `/bin/go build -o $PWD/gofmt cmd/gofmt`,
	},
	{
		name:    "reading 20,000 files 5 times, from the outputs",
		prepare: `mkdir ` + disk + `/read && cd ` + disk + `/read && ` + createFiles,
		in:      disk, script: `for i in 1 2 3 4 5; do grep -r y ` + disk + `/read || true; done`,
	},
}
