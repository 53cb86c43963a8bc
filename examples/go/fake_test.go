package websites

import (
	"context"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// saveAll is the first version, with the planted bug: an update of a website ignores its status.
func saveAll(ctx context.Context, c client.Client, website *Website) error {
	return c.Update(ctx, website)
}

// observed reconciles a new website and returns the generation in its status.
func observed(t *testing.T, c client.Client, namespace string, save func(context.Context, client.Client, *Website) error) int64 {
	t.Helper()
	site := website(namespace, "shop:1")
	site.Generation = 1 // A server sets it itself.
	if err := c.Create(t.Context(), site); err != nil {
		t.Fatal(err)
	}
	reconciler := &Reconciler{Client: c, SaveStatus: save}
	request := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(site)}
	if _, err := reconciler.Reconcile(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(site), site); err != nil {
		t.Fatal(err)
	}
	return site.Status.ObservedGeneration
}

// The fake client stores what a server ignores: the test passes in spite of the bug.
func TestStatusWithFakeClient(t *testing.T) {
	if observed(t, fake.NewClientBuilder().WithScheme(NewScheme()).Build(), "default", saveAll) != 1 {
		t.Error("the fake client finds the bug")
	}
}

// The same test with a server finds the bug.
func TestStatus(t *testing.T) {
	c := newClient(t)
	if observed(t, c, server.Namespace(t), SaveStatus) != 1 {
		t.Error("the status is not saved")
	}
	if observed(t, c, server.Namespace(t), saveAll) != 0 {
		t.Error("the bug is not found")
	}
}
