package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The rules that kubebuilder generates for an operator: its own kind, the objects that it creates,
// leases, events, and the reviews that its metrics endpoint needs to authenticate and authorize.
var operatorRules = []rbacv1.PolicyRule{
	{APIGroups: []string{"boats.example.com"}, Resources: []string{"boats"}, Verbs: []string{"get", "list", "watch", "update", "patch"}},
	{APIGroups: []string{"boats.example.com"}, Resources: []string{"boats/status", "boats/finalizers"}, Verbs: []string{"update", "patch"}},
	{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch", "create", "update"}},
	{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get", "create", "update"}},
	{APIGroups: []string{"", "events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
	{APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"tokenreviews"}, Verbs: []string{"create"}},
	{APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"subjectaccessreviews"}, Verbs: []string{"create"}},
}

// The address of the manager's metrics endpoint.
var metricsAddress string

func freeAddress() string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	defer listener.Close()
	return listener.Addr().String()
}

// The client configuration of a service account with these rules.
func operatorAccount(api client.Client, admin *rest.Config) (*rest.Config, error) {
	token, err := accountToken(api, "harbour", operatorRules)
	if err != nil {
		return nil, err
	}
	config := rest.AnonymousClientConfig(admin)
	config.QPS, config.Burst, config.BearerToken = admin.QPS, admin.Burst, token
	return config, nil
}

func accountToken(api client.Client, name string, rules []rbacv1.PolicyRule) (string, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
	meta := metav1.ObjectMeta{Name: name}
	role := &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: name}},
	}
	for _, object := range []client.Object{account, role, binding} {
		if err := client.IgnoreAlreadyExists(api.Create(background, object)); err != nil {
			return "", err
		}
	}
	request := &authenticationv1.TokenRequest{}
	err := api.SubResource("token").Create(background, account, request)
	return request.Status.Token, err
}

// Metrics require a token of a user with permission for the path.
func readMetrics(api client.Client) error {
	reader, err := accountToken(api, "reader", []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}})
	if err != nil {
		return err
	}
	otherUser, err := accountToken(api, "stranger", nil)
	if err != nil {
		return err
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // The manager generates its own certificate.
	defer transport.CloseIdleConnections()
	// controller-runtime answers 500 if a review reports an error, as for an invalid token.
	for token, want := range map[string]int{"": 401, "no.real.token": 500, otherUser: 403, reader: 200} {
		request, err := http.NewRequest("GET", "https://"+metricsAddress+"/metrics", nil)
		if err != nil {
			return err
		}
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := transport.RoundTrip(request)
		if err != nil {
			return err
		}
		response.Body.Close()
		if response.StatusCode != want {
			return fmt.Errorf("the answer to %q is %d, not %d", token, response.StatusCode, want)
		}
	}
	return nil
}

// The operator's service account has only the permissions of its rules.
func overstep(api client.Client) error {
	token, err := accountToken(api, "harbour", operatorRules)
	if err != nil {
		return err
	}
	config := rest.AnonymousClientConfig(adminConfig)
	config.BearerToken = token
	operator, err := client.New(config, client.Options{Scheme: api.Scheme()})
	if err != nil {
		return err
	}
	if err := operator.List(background, &corev1.SecretList{}); !apierrors.IsForbidden(err) {
		return fmt.Errorf("listing secrets returned %v", err)
	}
	err = operator.Delete(background, boat("one"))
	want := `boats.boats.example.com "one" is forbidden: User "system:serviceaccount:default:harbour" cannot delete resource "boats" in API group "boats.example.com" in the namespace "default"`
	if err == nil {
		return fmt.Errorf("the service account deleted a boat")
	}
	return equal("the error", err.Error(), want)
}
