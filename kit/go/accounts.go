package coxswaintest

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"k8s.io/client-go/rest"
)

// AsServiceAccount returns the configuration of clients that send a token of a ServiceAccount, which is created unless
// it exists. The account has the rights that roles of the server grant to it, and no others. The token expires an
// hour later, by the time of the server.
func (s *Server) AsServiceAccount(t testing.TB, namespace, name string) *rest.Config {
	t.Helper()
	token, err := s.tokenOf(context.Background(), namespace, name)
	if err != nil {
		t.Fatalf("coxswaintest: a token of %s/%s: %v", namespace, name, err)
	}
	config := rest.AnonymousClientConfig(s.Config)
	config.QPS = s.Config.QPS
	config.BearerToken = token
	return config
}

func (s *Server) tokenOf(ctx context.Context, namespace, name string) (string, error) {
	accounts := fmt.Sprintf("/api/v1/namespaces/%s/serviceaccounts", namespace)
	body := map[string]any{"metadata": map[string]any{"name": name}}
	if problem := s.call(ctx, http.MethodPost, accounts, body, nil); problem != nil {
		if err := s.call(ctx, http.MethodGet, accounts+"/"+name, nil, nil); err != nil {
			return "", problem
		}
	}
	var review struct {
		Status struct{ Token string }
	}
	err := s.call(ctx, http.MethodPost, accounts+"/"+name+"/token", map[string]any{"spec": map[string]any{}}, &review)
	return review.Status.Token, err
}
