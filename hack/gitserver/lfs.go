// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package gitserver

import (
	"encoding/json"
	"net/http"
	"strings"
)

// objectsPath is where the HTTP servers have the LFS objects.
const objectsPath = "/lfs-objects/"

// mediaType is that of the LFS API.
const mediaType = "application/vnd.git-lfs+json"

type batchRequest struct {
	Objects []batchObject `json:"objects"`
}

type batchResponse struct {
	Transfer string        `json:"transfer"`
	Objects  []batchObject `json:"objects"`
}

type batchObject struct {
	OID     string                 `json:"oid"`
	Size    int                    `json:"size"`
	Actions map[string]batchAction `json:"actions,omitempty"`
	Error   *batchError            `json:"error,omitempty"`
}

type batchAction struct {
	Href string `json:"href"`
}

type batchError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// serveBatch says where objects can be fetched.
func (s *Server) serveBatch(w http.ResponseWriter, r *http.Request, settings Settings) {
	var request batchRequest
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	href := settings.LFSHref
	if href == "" {
		href = "https://" + s.https
	}
	response := batchResponse{Transfer: "basic"}
	for _, object := range request.Objects {
		if _, found := s.object(object.OID); found {
			object.Actions = map[string]batchAction{"download": {Href: href + objectsPath + object.OID}}
		} else {
			object.Error = &batchError{http.StatusNotFound, "Object does not exist"}
		}
		response.Objects = append(response.Objects, object)
	}
	w.Header().Set("Content-Type", mediaType)
	_ = json.NewEncoder(w).Encode(response)
}

func (s *Server) object(oid string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	content, found := s.objects[oid]
	return content, found
}

// ForgetLFS has the server lose all large files.
func (s *Server) ForgetLFS() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.objects)
}

func (s *Server) serveObject(w http.ResponseWriter, r *http.Request, oid string) {
	content, found := s.object(oid)
	if !found {
		http.NotFound(w, r)
		return
	}
	http.ServeContent(w, r, "", startTime, strings.NewReader(string(content)))
}
