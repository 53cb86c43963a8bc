package coxswaintest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	coxswaintest "coxswain/kit/go"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// Faults of requests, as client-go sees them.
func TestFaultsOfRequests(t *testing.T) {
	create := func(ctx context.Context, maps typedv1.ConfigMapInterface) error {
		_, err := maps.Create(ctx, configMap("new"), metav1.CreateOptions{})
		return err
	}
	get := func(ctx context.Context, maps typedv1.ConfigMapInterface) error {
		_, err := maps.Get(ctx, "old", metav1.GetOptions{})
		return err
	}
	list := func(ctx context.Context, maps typedv1.ConfigMapInterface) error {
		_, err := maps.List(ctx, metav1.ListOptions{})
		return err
	}
	update := func(ctx context.Context, maps typedv1.ConfigMapInterface) error {
		_, err := maps.Update(ctx, configMap("old"), metav1.UpdateOptions{})
		return err
	}
	succeeds := func(err error) bool { return err == nil }
	isNoAnswer := func(err error) bool { return err != nil && apierrors.ReasonForError(err) == metav1.StatusReasonUnknown }
	rows := []struct {
		verb    string
		send    func(context.Context, typedv1.ConfigMapInterface) error
		fault   coxswaintest.Fault
		result  func(error) bool
		created bool
		atLeast time.Duration
	}{
		{"update", update, coxswaintest.Fault{Type: coxswaintest.Conflict}, apierrors.IsConflict, false, 0},
		{"list", list, coxswaintest.Fault{Type: coxswaintest.Gone}, apierrors.IsResourceExpired, false, 0},
		// client-go sends the request again after a second.
		{"create", create, coxswaintest.Fault{Type: coxswaintest.TooManyRequests}, succeeds, true, time.Second},
		{"create", create, coxswaintest.Fault{Type: coxswaintest.InternalError}, apierrors.IsInternalError, false, 0},
		{"create", create, coxswaintest.Fault{Type: coxswaintest.TimeoutBeforeCommit}, apierrors.IsTimeout, false, 0},
		{"create", create, coxswaintest.Fault{Type: coxswaintest.TimeoutAfterCommit}, apierrors.IsTimeout, true, 0},
		{"get", get, coxswaintest.Fault{Type: coxswaintest.Latency, Milliseconds: 50}, succeeds, false, 50 * time.Millisecond},
		{"get", get, coxswaintest.Fault{Type: coxswaintest.StaleRead, Changes: 1}, apierrors.IsNotFound, false, 0},
		{"create", create, coxswaintest.Fault{Type: coxswaintest.CutConnection}, isNoAnswer, false, 0},
		{"create", create, coxswaintest.Fault{Type: coxswaintest.CutConnection, When: "after"}, isNoAnswer, true, 0},
	}
	for _, row := range rows {
		t.Run(string(row.fault.Type)+row.fault.When, func(t *testing.T) {
			namespace := shared.Namespace(t)
			maps := kubernetes.NewForConfigOrDie(shared.Config).CoreV1().ConfigMaps(namespace)
			if _, err := maps.Create(t.Context(), configMap("old"), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			match := coxswaintest.Match{Verb: row.verb, Resource: "configmaps", Namespace: namespace, Count: 1}
			rule := shared.AddFault(t, match, row.fault)
			started := time.Now()
			err := row.send(t.Context(), maps)
			if took := time.Since(started); !row.result(err) || took < row.atLeast {
				t.Errorf("after %v: %v", took, err)
			}
			if hits, err := rule.Hits(t.Context()); hits != 1 || err != nil {
				t.Errorf("%d hits (%v)", hits, err)
			}
			_, err = maps.Get(t.Context(), "new", metav1.GetOptions{})
			if (err == nil) != row.created {
				t.Errorf("the object after the fault: %v", err)
			}
		})
	}
}

func event(t *testing.T, watch watch.Interface) (watch.Event, bool) {
	t.Helper()
	select {
	case event, open := <-watch.ResultChan():
		return event, open
	case <-time.After(10 * time.Second):
		t.Fatal("neither an event nor an end")
		panic("unreachable")
	}
}

func TestWatchesAreCutAfterAnEvent(t *testing.T) {
	for _, how := range []string{"drop", "end"} {
		t.Run(how, func(t *testing.T) {
			namespace := shared.Namespace(t)
			maps := kubernetes.NewForConfigOrDie(shared.Config).CoreV1().ConfigMaps(namespace)
			shared.AddFault(t, coxswaintest.Match{Verb: "watch", Namespace: namespace}, coxswaintest.Fault{Type: coxswaintest.CutWatch, Events: 1, How: how})
			watching, err := maps.Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=a"})
			if err != nil {
				t.Fatal(err)
			}
			defer watching.Stop()
			if _, err := maps.Create(t.Context(), configMap("a"), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			if first, open := event(t, watching); !open || first.Type != watch.Added {
				t.Errorf("the first event: %v", first)
			}
			if second, open := event(t, watching); open {
				t.Errorf("after the first event: %v", second)
			}
		})
	}
}

func TestStalledWatchDeliversWhenItsRuleIsRemoved(t *testing.T) {
	namespace := shared.Namespace(t)
	maps := kubernetes.NewForConfigOrDie(shared.Config).CoreV1().ConfigMaps(namespace)
	watching, err := maps.Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=a"})
	if err != nil {
		t.Fatal(err)
	}
	defer watching.Stop()
	rule := shared.AddFault(t, coxswaintest.Match{Verb: "watch", Namespace: namespace}, coxswaintest.Fault{Type: coxswaintest.StallWatch})
	if _, err := maps.Create(t.Context(), configMap("a"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	select {
	case early := <-watching.ResultChan():
		t.Errorf("while it is stalled: %v", early)
	case <-time.After(200 * time.Millisecond):
	}
	if err := rule.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if first, open := event(t, watching); !open || first.Type != watch.Added {
		t.Errorf("the first event: %v", first)
	}
}

func TestGoneIsAnEventOfAWatch(t *testing.T) {
	namespace := shared.Namespace(t)
	shared.AddFault(t, coxswaintest.Match{Verb: "watch", Namespace: namespace}, coxswaintest.Fault{Type: coxswaintest.Gone})
	watching, err := kubernetes.NewForConfigOrDie(shared.Config).CoreV1().ConfigMaps(namespace).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	first, _ := event(t, watching)
	if !apierrors.IsResourceExpired(apierrors.FromObject(first.Object)) {
		t.Errorf("the first event: %v", first)
	}
}

func TestAFaultThatNeverHappenedFailsTheTest(t *testing.T) {
	for _, optional := range []bool{false, true} {
		of := &test{TB: t}
		match := coxswaintest.Match{Verb: "update", Name: "nothing", Optional: optional}
		shared.AddFault(of, match, coxswaintest.Fault{Type: coxswaintest.Conflict})
		if log := of.end(); strings.Contains(log, "the fault conflict never happened") == optional {
			t.Errorf("optional is %v, and the log is: %s", optional, log)
		}
	}
}
