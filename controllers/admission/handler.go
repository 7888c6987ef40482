// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	kjson "sigs.k8s.io/json"
)

// maxQuestion is more than an AdmissionReview may have with two objects of the
// size that an API server takes, in bytes.
const maxQuestion = 7 << 20

// object is a pointer to a type of the API.
type object interface {
	comparable
	runtime.Object
}

// question is an AdmissionReview of one kind of object. A general one is
// decoded three times over, which takes longer than all rules for a large
// session; in this one the object is of its own type from the start.
type question[O object] struct {
	metav1.TypeMeta `json:",inline"`
	Request         *struct {
		UID       types.UID             `json:"uid"`
		Operation admissionv1.Operation `json:"operation"`
		Object    O                     `json:"object"`
		OldObject O                     `json:"oldObject"`
	} `json:"request"`
}

// Handler answers the API server's questions about one kind of object. It
// serves version 1 of AdmissionReview.
func Handler[O object](validator admission.Validator[O]) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, err := readQuestion[O](http.MaxBytesReader(w, r.Body, maxQuestion))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer := admissionv1.AdmissionReview{TypeMeta: asked.TypeMeta, Response: asked.answer(r.Context(), validator)}
		w.Header().Set("Content-Type", "application/json")
		// Who has gone away hears nothing.
		_ = json.NewEncoder(w).Encode(answer)
	})
}

func readQuestion[O object](body io.Reader) (*question[O], error) {
	encoded, err := io.ReadAll(body)
	if err != nil {
		return nil, fmt.Errorf("reading the AdmissionReview: %w", err)
	}
	var asked question[O]
	if err := kjson.UnmarshalCaseSensitivePreserveInts(encoded, &asked); err != nil {
		return nil, fmt.Errorf("decoding the AdmissionReview: %w", err)
	}
	if asked.APIVersion != admissionv1.SchemeGroupVersion.String() || asked.Kind != "AdmissionReview" || asked.Request == nil {
		return nil, errors.New("an AdmissionReview of admission.k8s.io/v1 with a request is required")
	}
	return &asked, nil
}

func (q *question[O]) answer(ctx context.Context, validator admission.Validator[O]) *admissionv1.AdmissionResponse {
	warnings, err := q.judge(ctx, validator)
	response := &admissionv1.AdmissionResponse{UID: q.Request.UID, Allowed: err == nil, Warnings: warnings}
	if refused := apierrors.APIStatus(nil); errors.As(err, &refused) {
		response.Result = new(refused.Status())
	} else if err != nil {
		response.Result = &metav1.Status{Code: http.StatusBadRequest, Message: err.Error()}
	}
	return response
}

func (q *question[O]) judge(ctx context.Context, validator admission.Validator[O]) (admission.Warnings, error) {
	object, old := q.Request.Object, q.Request.OldObject
	var none O
	switch operation := q.Request.Operation; {
	case operation == admissionv1.Create && object != none:
		return validator.ValidateCreate(ctx, object)
	case operation == admissionv1.Update && object != none && old != none:
		return validator.ValidateUpdate(ctx, old, object)
	case operation == admissionv1.Delete && old != none:
		return validator.ValidateDelete(ctx, old)
	default:
		return nil, fmt.Errorf("the operation %q can't be judged without its objects", operation)
	}
}
