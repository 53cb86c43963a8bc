package coxswaintest_test

import (
	"errors"
	"strings"
	"testing"

	coxswaintest "coxswain/kit/go"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// A gauge has a height in meters in v1, and in centimeters in v2.
const gauges = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gauges.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Gauge, plural: gauges}
  versions:
    - {name: v1, served: true, storage: true, schema: &any {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
    - {name: v2, served: true, storage: false, schema: *any}
---
apiVersion: example.com/v1
kind: Gauge
metadata: {name: a}
spec: {meters: 3}
`

func TestAFunctionConverts(t *testing.T) {
	namespace := shared.Namespace(t)
	shared.Install(t, coxswaintest.Manifests{Text: gauges, Namespace: namespace})
	v2 := schema.GroupVersionResource{Group: "example.com", Version: "v2", Resource: "gauges"}
	client := dynamic.NewForConfigOrDie(shared.Config).Resource(v2).Namespace(namespace)
	t.Run("a height", func(t *testing.T) {
		shared.HandleConversion(t, "gauges.example.com", convertHeight)
		gauge, err := client.Get(t.Context(), "a", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if height, _, _ := unstructured.NestedInt64(gauge.Object, "spec", "centimeters"); height != 300 {
			t.Errorf("the gauge is %v", gauge.Object)
		}
	})
	t.Run("an error", func(t *testing.T) {
		shared.HandleConversion(t, "gauges.example.com", func(*unstructured.Unstructured, string) (*unstructured.Unstructured, error) {
			return nil, errors.New("this height is not known")
		})
		_, err := client.Get(t.Context(), "a", metav1.GetOptions{})
		if err == nil || !strings.Contains(err.Error(), "this height is not known") {
			t.Errorf("the error is %v", err)
		}
	})
}

func convertHeight(gauge *unstructured.Unstructured, apiVersion string) (*unstructured.Unstructured, error) {
	meters, _, err := unstructured.NestedInt64(gauge.Object, "spec", "meters")
	if apiVersion == "example.com/v2" && err == nil {
		gauge.Object["spec"] = map[string]any{"centimeters": meters * 100}
	}
	return gauge, err
}
