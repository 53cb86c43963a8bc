// Records what upstream's converter does with answers of conversion webhooks. Reads rows from standard input and replaces the
// `request` that was sent, and the `error` or the converted `objects`.
package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"encoding/pem"

	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/util/webhook"

	"coxswain/tools/golden/internal/fixture"
)

type testCase struct {
	Name    string           `json:"name"`
	In      json.RawMessage  `json:"in"`
	List    bool             `json:"list,omitempty"`
	To      string           `json:"to"`
	Reviews []string         `json:"reviews"`
	Answer  string           `json:"answer"`
	Status  int              `json:"status,omitempty"`
	Request json.RawMessage  `json:"request,omitempty"`
	Error   string           `json:"error,omitempty"`
	Objects []map[string]any `json:"objects,omitempty"`
}

func main() {
	factory, err := conversion.NewCRConverterFactory(webhook.NewDefaultServiceResolver(), func(r webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver { return r })
	fixture.Must(err)
	for one := range fixture.Rows[testCase]() {
		run(factory, &one)
		fixture.Write(one)
	}
}

func run(factory *conversion.CRConverterFactory, one *testCase) {
	uid := "none"
	one.Request, one.Error, one.Objects = nil, "", nil
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var review struct {
			Request struct {
				UID string `json:"uid"`
			} `json:"request"`
		}
		fixture.Must(json.Unmarshal(body, &review))
		uid = review.Request.UID
		one.Request = json.RawMessage(strings.TrimSpace(strings.ReplaceAll(string(body), review.Request.UID, "UID")))
		w.Header().Set("Content-Type", "application/json")
		if one.Status != 0 {
			w.WriteHeader(one.Status)
		}
		w.Write([]byte(strings.ReplaceAll(one.Answer, "UID", review.Request.UID)))
	}))
	defer server.Close()
	defer func() { one.Error = strings.ReplaceAll(one.Error, uid, "UID") }()
	url := server.URL
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	crd := &v1.CustomResourceDefinition{}
	crd.Name = "gadgets.example.com"
	crd.Spec.Group = "example.com"
	for _, name := range []string{"v1", "v2", "v3"} {
		crd.Spec.Versions = append(crd.Spec.Versions, v1.CustomResourceDefinitionVersion{Name: name})
	}
	crd.Spec.Conversion = &v1.CustomResourceConversion{Strategy: v1.WebhookConverter, Webhook: &v1.WebhookConversion{
		ClientConfig:             &v1.WebhookClientConfig{URL: &url, CABundle: ca},
		ConversionReviewVersions: one.Reviews,
	}}
	safe, _, err := factory.NewConverter(crd)
	fixture.Must(err)
	target := schema.GroupVersion{Group: "example.com", Version: one.To}
	if one.List {
		list := &unstructured.UnstructuredList{}
		var items []map[string]any
		fixture.Must(json.Unmarshal(one.In, &items))
		for _, item := range items {
			list.Items = append(list.Items, unstructured.Unstructured{Object: item})
		}
		list.SetAPIVersion("example.com/v1")
		list.SetKind("GadgetList")
		got, err := safe.ConvertToVersion(list, target)
		if err != nil {
			one.Error = err.Error()
			return
		}
		for _, item := range got.(*unstructured.UnstructuredList).Items {
			one.Objects = append(one.Objects, item.Object)
		}
		return
	}
	object := &unstructured.Unstructured{}
	fixture.Must(json.Unmarshal(one.In, &object.Object))
	got, err := safe.ConvertToVersion(object, target)
	if err != nil {
		one.Error = err.Error()
		return
	}
	one.Objects = append(one.Objects, got.(*unstructured.Unstructured).Object)
}
