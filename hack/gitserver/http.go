// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package gitserver

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/cgi"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// discard takes what servers say of clients that misbehave.
var discard = log.New(io.Discard, "", 0)

// Request is one that reached a server.
type Request struct {
	// Host is the address, host:port, that it was sent to.
	Host   string
	Method string
	// Path is what was asked for, or what a proxy was asked to connect to.
	Path string
	// Authorization is the header of this name.
	Authorization string
	// TLS tells whether it came encrypted.
	TLS bool
}

// Requests returns those that reached the HTTP servers so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	repository := s.note(r)
	if oid, is := strings.CutPrefix(r.URL.Path, objectsPath); is {
		s.serveObject(w, r, oid)
		return
	}
	if repository == nil {
		http.Error(w, "no such repository", http.StatusNotFound)
		return
	}
	repository.handle(w, r)
}

// note records a request and returns the repository that it is about, or nil.
func (s *Server) note(r *http.Request) *Repository {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, Request{
		Host: r.Host, Method: r.Method, Path: r.URL.Path, Authorization: r.Header.Get("Authorization"), TLS: r.TLS != nil,
	})
	for name, repository := range s.repositories {
		if strings.HasPrefix(r.URL.Path, "/"+name+"/") {
			return repository
		}
	}
	return nil
}

func (r *Repository) handle(w http.ResponseWriter, request *http.Request) {
	settings := r.use(request)
	user, password, _ := request.BasicAuth()
	switch {
	case settings.Stall, settings.StallPack && isPack(request):
		<-request.Context().Done()
	case settings.FailTimes != 0:
		http.Error(w, settings.FailBody, settings.Fail)
	case settings.RedirectTo != "" && !settings.RedirectAuthorized:
		http.Redirect(w, request, settings.RedirectTo+request.URL.RequestURI(), http.StatusFound)
	case user != settings.User || password != settings.Password:
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		http.Error(w, "authentication required", http.StatusUnauthorized)
	case settings.RedirectTo != "":
		http.Redirect(w, request, settings.RedirectTo+request.URL.RequestURI(), http.StatusFound)
	case isBatch(request) && settings.FailLFS > 0:
		http.Error(w, "unavailable", http.StatusServiceUnavailable)
	case isBatch(request):
		r.server.serveBatch(w, request, settings)
	default:
		r.serveGit(w, request, settings)
	}
}

// use returns the settings for a request and counts it.
func (r *Repository) use(request *http.Request) Settings {
	r.mu.Lock()
	defer r.mu.Unlock()
	settings := r.settings
	if settings.FailTimes > 0 {
		r.settings.FailTimes--
	}
	if settings.FailLFS > 0 && isBatch(request) {
		r.settings.FailLFS--
	}
	if !isPack(request) {
		settings.Drop = 0
	} else if settings.Drop > 0 && settings.FailTimes == 0 {
		r.settings.Drop--
	}
	return settings
}

func isBatch(request *http.Request) bool {
	return strings.HasSuffix(request.URL.Path, "/info/lfs/objects/batch")
}

// isPack reports whether a request asks for a pack. By the new protocol, one for
// the list of refs goes to the same place.
func isPack(request *http.Request) bool {
	if !strings.HasSuffix(request.URL.Path, "/git-upload-pack") {
		return false
	}
	body, _ := io.ReadAll(request.Body)
	request.Body = io.NopCloser(bytes.NewReader(body))
	return !bytes.Contains(body, []byte("command=ls-refs"))
}

// serveGit hands a request to git.
func (r *Repository) serveGit(w http.ResponseWriter, request *http.Request, settings Settings) {
	if settings.RefuseUnadvertised {
		request.Header.Del("Git-Protocol")
	}
	if settings.BytesPerSecond > 0 {
		w = &slow{ResponseWriter: w, rate: settings.BytesPerSecond, start: time.Now()}
	}
	if settings.Drop > 0 {
		w = &cut{ResponseWriter: w}
	}
	handler := &cgi.Handler{
		Path: r.server.backend, Dir: r.folder, Logger: discard, Stderr: io.Discard,
		Env: append(environment(),
			"GIT_PROJECT_ROOT="+filepath.Join(r.server.root, "repositories"), "GIT_HTTP_EXPORT_ALL=1",
			"GIT_PROTOCOL="+request.Header.Get("Git-Protocol")),
	}
	handler.ServeHTTP(w, request)
}

// cut is an answer that breaks off.
type cut struct {
	http.ResponseWriter
	written int
}

// cutAfter is how many bytes of it arrive: more than what comes before a pack.
const cutAfter = 600

func (c *cut) Write(data []byte) (int, error) {
	if c.written+len(data) <= cutAfter {
		c.written += len(data)
		return c.ResponseWriter.Write(data)
	}
	_, _ = c.ResponseWriter.Write(data[:cutAfter-c.written])
	_ = http.NewResponseController(c.ResponseWriter).Flush()
	panic(http.ErrAbortHandler)
}

// slow is an answer that is sent no faster than at a rate.
type slow struct {
	http.ResponseWriter
	// rate is in bytes a second.
	rate, written int
	start         time.Time
}

func (s *slow) Write(data []byte) (int, error) {
	n, err := s.ResponseWriter.Write(data)
	s.written += n
	due := time.Duration(float64(s.written) / float64(s.rate) * float64(time.Second))
	time.Sleep(time.Until(s.start.Add(due)))
	return n, err
}
