// Records what upstream's token webhook makes of answers to its reviews. Reads rows from standard input and replaces what came of each.
package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/plugin/pkg/authenticator/token/webhook"
	"k8s.io/client-go/rest"

	"coxswain/tools/golden/internal/fixture"
)

type row struct {
	Version   string   `json:"version"`
	Status    int      `json:"status"`
	Type      string   `json:"type"`
	Body      string   `json:"body"`
	Audiences []string `json:"audiences"`

	Sent          string            `json:"sent"`
	Calls         int               `json:"calls"`
	Authenticated bool              `json:"authenticated"`
	Error         string            `json:"error,omitempty"`
	User          *user.DefaultInfo `json:"user,omitempty"`
	For           []string          `json:"for,omitempty"`
}

func main() {
	for r := range fixture.Rows[row]() {
		run(&r)
		fixture.Write(r)
	}
}

func run(r *row) {
	r.Calls, r.Error, r.User, r.For = 0, "", nil, nil
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.Calls++
		body, err := io.ReadAll(request.Body)
		fixture.Must(err)
		r.Sent = string(body)
		if r.Type != "" {
			w.Header().Set("Content-Type", r.Type)
		}
		w.WriteHeader(r.Status)
		w.Write([]byte(r.Body))
	}))
	defer server.Close()
	backoff := wait.Backoff{Duration: time.Millisecond, Factor: 1, Steps: 5}
	config := &rest.Config{Host: server.URL, Timeout: 5 * time.Second, QPS: -1}
	tokens, err := webhook.New(config, r.Version, authenticator.Audiences{"api"}, backoff)
	fixture.Must(err)
	response, ok, err := tokens.AuthenticateToken(authenticator.WithAudiences(context.Background(), r.Audiences), "tok")
	r.Authenticated = ok
	if err != nil {
		r.Error = err.Error()
	}
	if response != nil {
		r.User, r.For = response.User.(*user.DefaultInfo), response.Audiences
	}
}
