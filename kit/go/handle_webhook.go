package coxswaintest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	registrationv1 "k8s.io/api/admissionregistration/v1"
)

// ReviewFunction answers the request of an AdmissionReview. A nil answer allows it. The uid is set by the kit.
type ReviewFunction func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse

// HandleValidation makes a function a validating webhook until the test is complete. Of the webhook, rules are needed; its
// name is generated if it is empty, and its clientConfig is ignored.
func (s *Server) HandleValidation(t testing.TB, webhook registrationv1.ValidatingWebhook, review ReviewFunction) {
	t.Helper()
	s.handleAdmission(t, "validating", webhook, review)
}

// HandleMutation makes a function a mutating webhook until the test is complete, as [Server.HandleValidation] does.
func (s *Server) HandleMutation(t testing.TB, webhook registrationv1.MutatingWebhook, review ReviewFunction) {
	t.Helper()
	s.handleAdmission(t, "mutating", webhook, review)
}

func (s *Server) handleAdmission(t testing.TB, kind string, webhook any, review ReviewFunction) {
	t.Helper()
	var entry map[string]any
	if err := convert(webhook, &entry); err != nil {
		t.Fatalf("coxswaintest: %v", err)
	}
	delete(entry, "clientConfig")
	for field, value := range entry {
		if value == nil || value == "" {
			delete(entry, field) // The server sets its default.
		}
	}
	s.handle(t, map[string]any{kind: entry}, func(text []byte) (any, error) { return admissionAnswer(text, review) })
}

// handle registers a webhook whose reviews a function answers, until the test is complete.
func (s *Server) handle(t testing.TB, spec map[string]any, answer func(review []byte) (any, error)) {
	t.Helper()
	serving := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, reviewBytesMax))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answered, err := answer(text)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answered)
	}))
	t.Cleanup(serving.Close)
	s.register(t, spec, serving.URL)
}

const reviewBytesMax = 16 << 20

func admissionAnswer(text []byte, review ReviewFunction) (any, error) {
	var exchange admissionv1.AdmissionReview
	if err := json.Unmarshal(text, &exchange); err != nil || exchange.Request == nil {
		return nil, errors.New("the body is not an AdmissionReview")
	}
	response := review(exchange.Request)
	if response == nil {
		response = &admissionv1.AdmissionResponse{Allowed: true}
	}
	response.UID = exchange.Request.UID
	exchange.Request, exchange.Response = nil, response
	return exchange, nil
}
