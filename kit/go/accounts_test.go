package coxswaintest_test

import (
	"strings"
	"testing"
	"time"

	coxswaintest "coxswain/kit/go"

	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func userOf(t *testing.T, config *rest.Config) (authenticationv1.UserInfo, error) {
	t.Helper()
	reviews := kubernetes.NewForConfigOrDie(config).AuthenticationV1().SelfSubjectReviews()
	review, err := reviews.Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return authenticationv1.UserInfo{}, err
	}
	return review.Status.UserInfo, nil
}

func TestAServiceAccountHasTheRightsOfItsRoles(t *testing.T) {
	namespace := shared.Namespace(t)
	config := shared.AsServiceAccount(t, namespace, "operator")
	if user, err := userOf(t, config); err != nil || user.Username != "system:serviceaccount:"+namespace+":operator" {
		t.Fatalf("the user is %v (%v)", user, err)
	}
	maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps(namespace)
	if _, err := maps.List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("without a role: %v", err)
	}
	rbac := kubernetes.NewForConfigOrDie(shared.Config).RbacV1()
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}}},
	}
	if _, err := rbac.Roles(namespace).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "operator"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "operator"}},
	}
	if _, err := rbac.RoleBindings(namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := maps.List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("with its role: %v", err)
	}
	if _, err := maps.Create(t.Context(), configMap("a"), metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a write with its role: %v", err)
	}
}

func TestAServiceAccountThatExistsIsUsed(t *testing.T) {
	namespace := shared.Namespace(t)
	first, err := userOf(t, shared.AsServiceAccount(t, namespace, "operator"))
	if err != nil {
		t.Fatal(err)
	}
	if second, err := userOf(t, shared.AsServiceAccount(t, namespace, "operator")); err != nil || second.UID != first.UID {
		t.Errorf("the uid was %s, and is %s (%v)", first.UID, second.UID, err)
	}
}

func TestTokensExpireByTheTimeOfTheServer(t *testing.T) {
	server := coxswaintest.Start(t, coxswaintest.WithVirtualClock())
	config := server.AsServiceAccount(t, "default", "operator")
	if _, err := userOf(t, config); err != nil {
		t.Fatal(err)
	}
	if err := server.Advance(t.Context(), 61*time.Minute); err != nil {
		t.Fatal(err)
	}
	if _, err := userOf(t, config); !apierrors.IsUnauthorized(err) {
		t.Errorf("after an hour: %v", err)
	}
}

func TestAServiceAccountWithoutItsNamespace(t *testing.T) {
	of := &fatal{TB: t}
	func() {
		defer func() { _ = recover() }()
		shared.AsServiceAccount(of, "nowhere", "operator")
	}()
	if !strings.Contains(of.message, `namespaces "nowhere" not found`) {
		t.Errorf("the error is %q", of.message)
	}
}
