package coxswaintest_test

import (
	"testing"
	"time"

	coxswaintest "coxswain/kit/go"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

func TestEventsAreGoneAfterAnHour(t *testing.T) {
	server := coxswaintest.Start(t, coxswaintest.WithVirtualClock())
	events := kubernetes.NewForConfigOrDie(server.Config).CoreV1().Events("default")
	event := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: "a"},
		InvolvedObject: corev1.ObjectReference{Kind: "ConfigMap", Namespace: "default", Name: "b"},
	}
	if _, err := events.Create(t.Context(), event, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := server.Advance(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	if _, err := events.Get(t.Context(), "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the event after an hour: %v", err)
	}
}

func TestNow(t *testing.T) {
	server := coxswaintest.Start(t, coxswaintest.WithVirtualClock())
	before, err := server.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Advance(t.Context(), 1500*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if after, err := server.Now(t.Context()); err != nil || after.Sub(before) != 1500*time.Millisecond {
		t.Errorf("the time went from %s to %s (%v)", before, after, err)
	}
}

func TestTheRealClockDoesNotAdvance(t *testing.T) {
	if err := shared.Advance(t.Context(), time.Hour); err == nil {
		t.Error("there is no error")
	}
}
