package coxswaintest_test

import (
	"strings"
	"testing"

	coxswaintest "coxswain/kit/go"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
)

var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

func TestInstallAFolder(t *testing.T) {
	namespace := shared.Namespace(t)
	client := dynamic.NewForConfigOrDie(shared.Config).Resource(widgets).Namespace(namespace)
	t.Run("a test", func(t *testing.T) {
		installed := shared.Install(t, coxswaintest.Manifests{Paths: []string{"testdata/crd.yaml"}, Namespace: namespace})
		if first := installed.Objects[0]; first.Kind != "CustomResourceDefinition" || !first.Created {
			t.Errorf("the first object is %v", first)
		}
		if _, err := client.Get(t.Context(), "first", metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
	})
	if _, err := client.Get(t.Context(), "first", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after the test: %v", err)
	}
}

func TestObjectsThatExistStay(t *testing.T) {
	namespace := shared.Namespace(t)
	maps := kubernetes.NewForConfigOrDie(shared.Config).CoreV1().ConfigMaps(namespace)
	if _, err := maps.Create(t.Context(), configMap("a"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	text := `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"b": "c"}}`
	installation, err := shared.OpenInstallation(t.Context(), coxswaintest.Manifests{Text: text, Namespace: namespace})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := installation.Remove(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if a, err := maps.Get(t.Context(), "a", metav1.GetOptions{}); err != nil || a.Data["b"] != "c" {
		t.Errorf("the ConfigMap is %v (%v)", a, err)
	}
}

func TestErrorsOfAnInstallation(t *testing.T) {
	rows := []struct {
		title     string
		manifests coxswaintest.Manifests
		expected  string
	}{
		{"nothing", coxswaintest.Manifests{}, "there is no object in it"},
		{"no such file", coxswaintest.Manifests{Paths: []string{"nowhere.yaml"}}, "nowhere.yaml: no such file or directory"},
		{"a folder without manifests", coxswaintest.Manifests{Paths: []string{t.TempDir()}}, "has no .yaml, .yml or .json file"},
		{"an unknown kind", coxswaintest.Manifests{Text: "{apiVersion: a/v1, kind: B, metadata: {name: c}}"}, "no kind B of a/v1"},
		{"no YAML", coxswaintest.Manifests{Text: "a: ]"}, "body, line"},
	}
	for _, row := range rows {
		t.Run(row.title, func(t *testing.T) {
			_, err := shared.OpenInstallation(t.Context(), row.manifests)
			if err == nil || !strings.Contains(err.Error(), row.expected) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
