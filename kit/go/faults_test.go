package coxswaintest_test

import (
	"context"
	"testing"

	coxswaintest "coxswain/kit/go"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
)

func TestUpdateIsRetried(t *testing.T) {
	namespace := shared.Namespace(t)
	maps := kubernetes.NewForConfigOrDie(shared.Config).CoreV1().ConfigMaps(namespace)
	if _, err := maps.Create(t.Context(), configMap("a"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	rule := shared.AddFault(t,
		coxswaintest.Match{Verb: "update", Resource: "configmaps", Namespace: namespace, Count: 2},
		coxswaintest.Fault{Type: coxswaintest.Conflict})
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		object, err := maps.Get(t.Context(), "a", metav1.GetOptions{})
		if err != nil {
			return err
		}
		object.Data = map[string]string{"b": "c"}
		_, err = maps.Update(t.Context(), object, metav1.UpdateOptions{})
		return err
	})
	if hits, hitsErr := rule.Hits(t.Context()); err != nil || hitsErr != nil || hits != 2 {
		t.Errorf("the update: %v; there are %d conflicts (%v)", err, hits, hitsErr)
	}
}

func TestFaultsAreListedAndRemoved(t *testing.T) {
	t.Cleanup(func() {
		if states, err := shared.Faults(context.Background()); err != nil || len(states) > 0 {
			t.Errorf("after the test there are the rules %v (%v)", states, err)
		}
	})
	match := coxswaintest.Match{Verb: "get", Resource: "nodes", Name: "a*", After: 1}
	fault := coxswaintest.Fault{Type: coxswaintest.StaleRead, Changes: 2}
	rule := shared.AddFault(t, match, fault)
	shared.AddFault(t, coxswaintest.Match{Name: "b", Optional: true}, coxswaintest.Fault{Type: coxswaintest.Gone})
	states, err := shared.Faults(t.Context())
	if err != nil || len(states) != 2 || states[0].Match != match || states[0].Fault != fault {
		t.Errorf("the rules are %v (%v)", states, err)
	}
	if err := rule.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	if states, err = shared.Faults(t.Context()); err != nil || len(states) != 1 {
		t.Errorf("without the first one, the rules are %v (%v)", states, err)
	}
}
