// Package teams gives the groups of teams a role in their namespaces.
package teams

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// TeamLabel of a namespace is the group that gets a role in it.
	TeamLabel = "example.com/team"
	// RoleLabel of a namespace is the ClusterRole of the team; view by default.
	RoleLabel = "example.com/role"
	// BindingName is the name of the RoleBinding in each namespace of a team.
	BindingName = "team"
)

// Reconciler maintains the RoleBinding of each namespace that has a team.
type Reconciler struct {
	client.Client
	bind bindFunc
}

// NewReconciler returns a Reconciler that uses the client.
func NewReconciler(client client.Client) *Reconciler {
	return &Reconciler{Client: client, bind: replaceBinding}
}

// SetupWithManager starts the reconciler with the manager.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).
		Named("teams").
		For(&corev1.Namespace{}).
		Owns(&rbacv1.RoleBinding{}).
		Complete(r)
}

// Reconcile makes the RoleBinding of a namespace as its labels say.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var namespace corev1.Namespace
	if err := r.Get(ctx, request.NamespacedName, &namespace); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	team := namespace.Labels[TeamLabel]
	if team == "" || namespace.DeletionTimestamp != nil {
		return ctrl.Result{}, nil
	}
	binding := bindingOf(namespace.Name, team, namespace.Labels[RoleLabel])
	if err := ctrl.SetControllerReference(&namespace, binding, r.Scheme()); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.bind(ctx, r.Client, binding)
}

func bindingOf(namespace, team, role string) *rbacv1.RoleBinding {
	if role == "" {
		role = "view"
	}
	return &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: BindingName},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: team}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
	}
}
