// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// progressInterval is how often a repository's progress is logged at most.
	progressInterval = 5 * time.Second
	// maxLine bounds one line of git's, maxLines how many are kept. The rest of a
	// longer line is dropped, because a secret could be cut there.
	maxLine  = 16 << 10
	maxLines = 100
)

// progress logs what the git processes of a repository say, one after another.
type progress struct {
	log     *slog.Logger
	secrets scrubber

	mu   sync.Mutex
	last time.Time
}

// listen returns where a process writes its standard error to.
func (p *progress) listen() *listener { return &listener{progress: p} }

// tell logs a line unless another was logged just before.
func (p *progress) tell(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); now.Sub(p.last) >= progressInterval {
		p.last = now
		p.log.Info("git", "says", line)
	}
}

// listener takes the output of one process.
type listener struct {
	progress *progress
	// rest is a line that hasn't ended, and returned that a carriage return was
	// the last of it.
	rest     []byte
	returned bool
	// lines are those that aren't progress, the latest.
	lines []string
}

// Write takes a part of the output. Progress ends its lines by a carriage return
// alone, so as to overwrite them.
func (l *listener) Write(data []byte) (int, error) {
	size := len(data)
	for len(data) > 0 {
		if l.returned {
			l.endLine(data[0] != '\n')
			data = bytes.TrimPrefix(data, []byte{'\n'})
			l.returned = false
			continue
		}
		end := bytes.IndexAny(data, "\r\n")
		if end < 0 {
			l.keep(data)
			break
		}
		l.keep(data[:end])
		if l.returned = data[end] == '\r'; !l.returned {
			l.endLine(false)
		}
		data = data[end+1:]
	}
	return size, nil
}

func (l *listener) keep(data []byte) {
	l.rest = append(l.rest, data[:min(len(data), maxLine-len(l.rest))]...)
}

func (l *listener) endLine(progress bool) {
	line := strings.TrimSpace(l.progress.secrets.scrub(string(l.rest)))
	l.rest = l.rest[:0]
	if line == "" {
		return
	}
	l.progress.tell(line)
	if progress {
		return
	}
	if l.lines = append(l.lines, line); len(l.lines) > maxLines {
		l.lines = slices.Delete(l.lines, 0, 1)
	}
}

// finish returns what the process said beside its progress.
func (l *listener) finish() []string {
	l.endLine(false)
	return l.lines
}
