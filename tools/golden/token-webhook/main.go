// What upstream's token webhook makes of answers: reads rows (JSON lines) and writes them with what came of each.
//
//	go run . < rows.jsonl > ../../src/authentication/webhook/testdata/answers.jsonl
//
// The rows may be the file itself: what came of a row is found again.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/plugin/pkg/authenticator/token/webhook"
	"k8s.io/client-go/rest"
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
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var r row
		must(json.Unmarshal(lines.Bytes(), &r))
		run(&r)
		must(out.Encode(r))
	}
	must(lines.Err())
}

func run(r *row) {
	r.Calls, r.Error, r.User, r.For = 0, "", nil, nil
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.Calls++
		body, err := io.ReadAll(request.Body)
		must(err)
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
	must(err)
	response, ok, err := tokens.AuthenticateToken(authenticator.WithAudiences(context.Background(), r.Audiences), "tok")
	r.Authenticated = ok
	if err != nil {
		r.Error = err.Error()
	}
	if response != nil {
		r.User, r.For = response.User.(*user.DefaultInfo), response.Audiences
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
