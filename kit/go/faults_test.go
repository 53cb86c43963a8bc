package coxswaintest_test

import (
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
