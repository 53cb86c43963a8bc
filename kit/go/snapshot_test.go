package coxswaintest_test

import (
	"testing"

	coxswaintest "coxswain/kit/go"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

func TestASnapshotIsRestored(t *testing.T) {
	server := coxswaintest.Start(t)
	maps := kubernetes.NewForConfigOrDie(server.Config).CoreV1().ConfigMaps("default")
	prepared, err := server.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := maps.Create(t.Context(), configMap("a"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := prepared.Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := maps.Get(t.Context(), "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("after the restore: %v", err)
		}
	}
	if err := prepared.Delete(t.Context()); err != nil {
		t.Error(err)
	}
	if err := prepared.Restore(t.Context()); err == nil {
		t.Error("a deleted snapshot is restored")
	}
}
