// Records which user upstream authenticates by the request headers in each row on standard input.
package main

import (
	"bufio"
	"net/http"
	"strings"

	"k8s.io/apiserver/pkg/authentication/request/headerrequest"

	"coxswain/tools/golden/internal/fixture"
)

type row struct {
	Usernames []string `json:"usernames"`
	UIDs      []string `json:"uids"`
	Groups    []string `json:"groups"`
	Extras    []string `json:"extras"`
	// The header lines of the request.
	Lines []string      `json:"lines"`
	User  *fixture.User `json:"user,omitempty"`
	// The HTTP server rejects the request before authentication.
	Unreadable bool `json:"unreadable,omitempty"`
}

func main() {
	for r := range fixture.Rows[row]() {
		authenticate(&r)
		fixture.Write(r)
	}
}

func authenticate(r *row) {
	text := "GET / HTTP/1.1\r\nHost: x\r\n" + strings.Join(r.Lines, "\r\n") + "\r\n\r\n"
	request, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
	if err != nil {
		r.Unreadable = true
		return
	}
	authenticator, err := headerrequest.New(r.Usernames, r.UIDs, r.Groups, r.Extras)
	fixture.Must(err)
	response, ok, err := authenticator.AuthenticateRequest(request)
	fixture.Must(err)
	if ok {
		r.User = fixture.UserOf(response.User)
		r.User.Groups = append([]string{}, r.User.Groups...) // Never null.
	}
}
