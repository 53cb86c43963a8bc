package coxswaintest_test

import (
	"encoding/json"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	coxswaintest "coxswain/kit/go"

	admissionv1 "k8s.io/api/admission/v1"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

var creationsOfConfigMaps = []registrationv1.RuleWithOperations{{
	Operations: []registrationv1.OperationType{registrationv1.Create},
	Rule:       registrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
}}

func inNamespace(name string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": name}}
}

func denied(message string) *admissionv1.AdmissionResponse {
	return &admissionv1.AdmissionResponse{Result: &metav1.Status{Message: message}}
}

func TestAFunctionValidates(t *testing.T) {
	namespace := shared.Namespace(t)
	maps := kubernetes.NewForConfigOrDie(shared.Config).CoreV1().ConfigMaps(namespace)
	t.Run("a test", func(t *testing.T) {
		webhook := registrationv1.ValidatingWebhook{Rules: creationsOfConfigMaps, NamespaceSelector: inNamespace(namespace)}
		shared.HandleValidation(t, webhook, func(request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
			if request.Name == "bad" {
				return denied("this name is not good")
			}
			return nil
		})
		if _, err := maps.Create(t.Context(), configMap("good"), metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
		_, err := maps.Create(t.Context(), configMap("bad"), metav1.CreateOptions{})
		if err == nil || !strings.Contains(err.Error(), "this name is not good") {
			t.Errorf("the error is %v", err)
		}
	})
	if _, err := maps.Create(t.Context(), configMap("bad"), metav1.CreateOptions{}); err != nil {
		t.Errorf("after the test: %v", err)
	}
}

func TestAFunctionMutates(t *testing.T) {
	namespace := shared.Namespace(t)
	webhook := registrationv1.MutatingWebhook{Rules: creationsOfConfigMaps, NamespaceSelector: inNamespace(namespace)}
	shared.HandleMutation(t, webhook, func(request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		patchType := admissionv1.PatchTypeJSONPatch
		patch := []byte(`[{"op": "add", "path": "/data", "value": {"by": "webhook"}}]`)
		return &admissionv1.AdmissionResponse{Allowed: true, Patch: patch, PatchType: &patchType}
	})
	maps := kubernetes.NewForConfigOrDie(shared.Config).CoreV1().ConfigMaps(namespace)
	created, err := maps.Create(t.Context(), configMap("a"), metav1.CreateOptions{})
	if err != nil || created.Data["by"] != "webhook" {
		t.Errorf("the ConfigMap is %v (%v)", created, err)
	}
}

// The webhook server of an operator, with the manifest of its configuration.
func TestWebhooksOfManifests(t *testing.T) {
	namespace := shared.Namespace(t)
	serving := shared.WebhookServing(t)
	mux := http.NewServeMux()
	mux.HandleFunc("/validate", func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		review.Response = denied("not today")
		review.Response.UID = review.Request.UID
		if err := json.NewEncoder(w).Encode(review); err != nil {
			t.Error(err)
		}
	})
	server := &http.Server{Addr: net.JoinHostPort(serving.Host, strconv.Itoa(serving.Port)), Handler: mux}
	t.Cleanup(func() { server.Close() })
	go server.ListenAndServeTLS(filepath.Join(serving.CertDir, "tls.crt"), filepath.Join(serving.CertDir, "tls.key"))
	serving.Register(t, coxswaintest.Manifests{Paths: []string{"testdata"}, Namespace: namespace})
	maps := kubernetes.NewForConfigOrDie(shared.Config).CoreV1().ConfigMaps(namespace)
	_, err := maps.Create(t.Context(), configMap("a"), metav1.CreateOptions{})
	if err == nil || !strings.Contains(err.Error(), `admission webhook "names.example.com" denied the request: not today`) {
		t.Errorf("the error is %v", err)
	}
}

func TestManifestsWithoutAWebhook(t *testing.T) {
	of := &fatal{TB: t}
	func() {
		defer func() { _ = recover() }()
		shared.WebhookServing(t).Register(of, coxswaintest.Manifests{Paths: []string{"testdata/crd.yaml"}})
	}()
	if of.message != "coxswaintest: there is no webhook in the manifests" {
		t.Errorf("the error is %q", of.message)
	}
}
