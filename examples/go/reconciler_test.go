package teams

import (
	"context"
	"strings"
	"testing"
	"time"

	coxswaintest "coxswain/kit/go"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// roleAfterChange gives a team the role view, and then edit. It returns the role of its RoleBinding.
func roleAfterChange(ctx context.Context, c client.Client, bind bindFunc) (string, error) {
	reconciler := &Reconciler{Client: c, bind: bind}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "shop", Labels: map[string]string{TeamLabel: "sellers"},
	}}
	if err := c.Create(ctx, namespace); err != nil {
		return "", err
	}
	request := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(namespace)}
	if _, err := reconciler.Reconcile(ctx, request); err != nil {
		return "", err
	}
	namespace.Labels[RoleLabel] = "edit"
	if err := c.Update(ctx, namespace); err != nil {
		return "", err
	}
	if _, err := reconciler.Reconcile(ctx, request); err != nil {
		return "", err
	}
	var binding rbacv1.RoleBinding
	err := c.Get(ctx, client.ObjectKey{Namespace: "shop", Name: BindingName}, &binding)
	return binding.RoleRef.Name, err
}

// The fake client accepts what a server rejects: the test passes in spite of the bug.
func TestChangeOfRoleWithFakeClient(t *testing.T) {
	for title, bind := range map[string]bindFunc{"correct": replaceBinding, "with the bug": updateBinding} {
		t.Run(title, func(t *testing.T) {
			role, err := roleAfterChange(t.Context(), fake.NewFakeClient(), bind)
			if role != "edit" || err != nil {
				t.Errorf("the role is %q, and the error %v", role, err)
			}
		})
	}
}

func TestChangeOfRole(t *testing.T) {
	role, err := roleAfterChange(t.Context(), newClient(t, coxswaintest.Start(t)), replaceBinding)
	if role != "edit" || err != nil {
		t.Errorf("the role is %q, and the error %v", role, err)
	}
}

// The same test finds the bug.
func TestChangeOfRoleFindsTheBug(t *testing.T) {
	_, err := roleAfterChange(t.Context(), newClient(t, coxswaintest.Start(t)), updateBinding)
	if err == nil || !strings.Contains(err.Error(), "cannot change roleRef") {
		t.Errorf("the error is %v", err)
	}
}

func newClient(t *testing.T, server *coxswaintest.Server) client.WithWatch {
	t.Helper()
	c, err := client.NewWithWatch(server.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestManager(t *testing.T) {
	started := coxswaintest.Start(t)
	manager, err := ctrl.NewManager(started.Config, ctrl.Options{
		Scheme: scheme.Scheme, Metrics: server.Options{BindAddress: "0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := NewReconciler(manager.GetClient()).SetupWithManager(manager); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	go func() {
		if err := manager.Start(ctx); err != nil {
			t.Errorf("the manager: %v", err)
		}
	}()
	c := newClient(t, started)
	watch, err := c.Watch(ctx, &rbacv1.RoleBindingList{}, client.InNamespace("shop"))
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "shop", Labels: map[string]string{TeamLabel: "sellers", RoleLabel: "admin"},
	}}
	if err := c.Create(ctx, namespace); err != nil {
		t.Fatal(err)
	}
	for event := range watch.ResultChan() {
		if event.Object.(*rbacv1.RoleBinding).RoleRef.Name == "admin" {
			return
		}
	}
	t.Error("the RoleBinding is not created")
}
