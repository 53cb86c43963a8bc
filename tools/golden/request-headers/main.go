// Says whom upstream takes the header lines on standard input for, one JSON object a line.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strings"

	"k8s.io/apiserver/pkg/authentication/request/headerrequest"
)

type row struct {
	Usernames []string `json:"usernames"`
	UIDs      []string `json:"uids"`
	Groups    []string `json:"groups"`
	Extras    []string `json:"extras"`
	// As they stand in the request.
	Lines []string `json:"lines"`
	User  *user    `json:"user,omitempty"`
	// The server refuses the lines before anybody looks at them.
	Unreadable bool `json:"unreadable,omitempty"`
}

type user struct {
	Name   string              `json:"name"`
	UID    string              `json:"uid"`
	Groups []string            `json:"groups"`
	Extra  map[string][]string `json:"extra"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for lines.Scan() {
		var r row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			log.Fatal(err)
		}
		ask(&r)
		if err := out.Encode(r); err != nil {
			log.Fatal(err)
		}
	}
}

func ask(r *row) {
	text := "GET / HTTP/1.1\r\nHost: x\r\n" + strings.Join(r.Lines, "\r\n") + "\r\n\r\n"
	request, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
	if err != nil {
		r.Unreadable = true
		return
	}
	authenticator, err := headerrequest.New(r.Usernames, r.UIDs, r.Groups, r.Extras)
	if err != nil {
		log.Fatal(err)
	}
	response, ok, err := authenticator.AuthenticateRequest(request)
	if err != nil {
		log.Fatal(err)
	}
	if ok {
		u := response.User
		r.User = &user{u.GetName(), u.GetUID(), append([]string{}, u.GetGroups()...), u.GetExtra()}
	}
}
