// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package wanted

// result is what one try gets.
type result struct {
	// errno is the error under all layers.
	errno string
	// line is the path that is explained, if any.
	line string
	// bare is the error without Landlock, if it differs.
	bare string
	// profile is the error where the runtime's seccomp profile refuses the call
	// before anything else does, if it differs.
	profile string
	// process1: the name leads through process 1, which is closed to everybody
	// but itself, so that nobody else can explain it.
	process1 bool
	// parent: it is about the program's parent.
	parent bool
}

// table has what a mount refuses (EROFS), what another mount's being another
// one does (EXDEV), what Landlock does (EACCES where bare differs), and what
// the kernel does in any container.
var table = map[string]result{
	"open a file":                        {errno: "EROFS", line: "FILE"},
	"open a file to cut it":              {errno: "EROFS", line: "FILE"},
	"truncate a file":                    {errno: "EROFS", line: "FILE"},
	"make a file":                        {errno: "EROFS", line: "FOLDER/escaped"},
	"make a file without a name":         {errno: "EROFS", line: "FOLDER"},
	"make a folder":                      {errno: "EROFS", line: "FOLDER/escaped"},
	"make a pipe":                        {errno: "EROFS", line: "FOLDER/escaped"},
	"make a link":                        {errno: "EROFS", line: "FOLDER/escaped"},
	"make a socket":                      {errno: "EROFS", line: "FOLDER/escaped"},
	"make a device in a root":            {errno: "EPERM"},
	"remove a file":                      {errno: "EROFS", line: "FILE"},
	"remove a folder":                    {errno: "EROFS", line: "FOLDER"},
	"rename a file":                      {errno: "EROFS", line: "FILE"},
	"rename a file out of a root":        {errno: "EXDEV"},
	"rename a file into a root":          {errno: "EXDEV"},
	"exchange a file with one of a root": {errno: "EXDEV"},
	"link a file out of a root":          {errno: "EROFS", line: "FOLDER/escaped"},
	"link a file into a root":            {errno: "EXDEV"},
	"link a descriptor into a root":      {errno: "EXDEV"},
	"write through a link of a root":     {errno: "EROFS", line: "ROOT/link"},
	"change a file's mode":               {errno: "EROFS", line: "FILE"},
	"change a file's owner":              {errno: "EROFS", line: "FILE"},
	"change a file's times":              {errno: "EROFS", line: "FILE"},
	"set a file's attribute":             {errno: "EROFS", line: "FILE"},
	"remove a file's attribute":          {errno: "EROFS", line: "FILE"},

	"make a file by the process's root": {errno: "EROFS", line: "/proc/self/rootFOLDER/escaped"},
	"make a file by process 1's root":   {errno: "EACCES", line: "/proc/1/rootFOLDER/escaped", process1: true},
	"make a file by process 1's folder": {errno: "EACCES", line: "/proc/1/cwd/escaped", process1: true},
	"change a kernel setting":           {errno: "EACCES", line: "/proc/sys/kernel/core_pattern"},
	"make a folder in /sys":             {errno: "EROFS", line: "/sys/escaped"},

	// Mounts leave these two writable.
	"open the termination message": {errno: "EACCES", line: "/dev/termination-log", bare: "OK"},
	"make a message queue":         {errno: "EACCES", bare: "OK"},

	"reopen a descriptor":                 {errno: "EROFS", line: "/proc/self/fd/100"},
	"reopen a descriptor of a path alone": {errno: "EROFS", line: "/proc/self/fd/100"},
	"make a file below a descriptor":      {errno: "EROFS", line: "FOLDER/escaped"},
	"write by a descriptor":               {errno: "EBADF"},
	"truncate by a descriptor":            {errno: "EINVAL"},
	"punch a hole by a descriptor":        {errno: "EBADF"},
	"copy to a descriptor":                {errno: "EBADF"},
	"change the mode by a descriptor":     {errno: "EROFS", line: "FILE"},
	"change the times by a descriptor":    {errno: "EROFS"},
	"set an attribute by a descriptor":    {errno: "EROFS", line: "FILE"},
	"map a file to write":                 {errno: "EACCES"},
	"make a mapped file writable":         {errno: "EACCES"},
	"open a file by its handle":           {errno: "EPERM"},

	"mount a root over a folder":                {errno: "EPERM"},
	"make a mount writable":                     {errno: "EPERM"},
	"unmount":                                   {errno: "EPERM"},
	"change a mount's attributes":               {errno: "EPERM"},
	"copy a mount":                              {errno: "EPERM"},
	"make a file system":                        {errno: "EPERM"},
	"change the root":                           {errno: "EPERM"},
	"exchange the root":                         {errno: "EPERM"},
	"enter process 1's mounts":                  {errno: "EACCES"},
	"make a user namespace":                     {errno: "OK", profile: "EPERM"},
	"make a mount writable in a user namespace": {errno: "EPERM"},

	"open a file by a ring":                 {errno: "EROFS", profile: "EPERM"},
	"make a file by a ring":                 {errno: "EROFS", profile: "EPERM"},
	"make a folder by a ring":               {errno: "EROFS", profile: "EPERM"},
	"remove a file by a ring":               {errno: "EROFS", profile: "EPERM"},
	"rename a file by a ring":               {errno: "EROFS", profile: "EPERM"},
	"rename a file out of a root by a ring": {errno: "EXDEV", profile: "EPERM"},
	"link a file out of a root by a ring":   {errno: "EROFS", profile: "EPERM"},
	"write to a descriptor by a ring":       {errno: "EBADF", profile: "EPERM"},
	// What shows that a ring does what it is asked.
	"write to a file of a root by a ring":    {errno: "OK", profile: "EPERM"},
	"open the termination message by a ring": {errno: "EACCES", bare: "OK", profile: "EPERM"},

	"trace the launcher":                  {errno: "EPERM"},
	"write into the launcher":             {errno: "EPERM"},
	"open the launcher's memory":          {errno: "EACCES"},
	"read the launcher's environment":     {errno: "EACCES"},
	"take a descriptor of the launcher":   {errno: "EPERM"},
	"reopen a descriptor of the launcher": {errno: "EACCES"},
	"make a file as a child of a child":   {errno: "EROFS", line: "FOLDER/escaped"},

	"trace the parent":                {errno: "EPERM", parent: true},
	"write into the parent":           {errno: "EPERM", parent: true},
	"open the parent's memory":        {errno: "EACCES", parent: true},
	"take a descriptor of the parent": {errno: "EPERM", parent: true},
}
