package teams

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// bindFunc makes a RoleBinding as desired, whether it exists or not.
type bindFunc func(ctx context.Context, c client.Client, desired *rbacv1.RoleBinding) error

// updateBinding is the first version, with the planted bug: the role of a RoleBinding cannot change.
func updateBinding(ctx context.Context, c client.Client, desired *rbacv1.RoleBinding) error {
	binding := &rbacv1.RoleBinding{ObjectMeta: *desired.ObjectMeta.DeepCopy()}
	_, err := controllerutil.CreateOrUpdate(ctx, c, binding, func() error {
		binding.Subjects, binding.RoleRef = desired.Subjects, desired.RoleRef
		return nil
	})
	return err
}

// replaceBinding is the correct version: a RoleBinding with another role is deleted, and created again.
func replaceBinding(ctx context.Context, c client.Client, desired *rbacv1.RoleBinding) error {
	var existing rbacv1.RoleBinding
	err := c.Get(ctx, client.ObjectKeyFromObject(desired), &existing)
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if err == nil && existing.RoleRef != desired.RoleRef {
		same := client.Preconditions{UID: &existing.UID, ResourceVersion: &existing.ResourceVersion}
		if err := c.Delete(ctx, &existing, same); err != nil {
			return err
		}
	}
	return updateBinding(ctx, c, desired)
}
