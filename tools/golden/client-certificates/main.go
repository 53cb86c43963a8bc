// Says whom upstream takes the client certificates on standard input for, one JSON object a line.
package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"log"
	"net/http"
	"os"

	x509request "k8s.io/apiserver/pkg/authentication/request/x509"
	"k8s.io/client-go/util/cert"
)

type row struct {
	What  string `json:"what"`
	Roots string `json:"roots"`
	Chain string `json:"chain"`
	Key   string `json:"key"`
	User  *user  `json:"user,omitempty"`
	// With neither, the certificate says nothing of a user.
	Refused bool `json:"refused,omitempty"`
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
	roots, err := cert.NewPoolFromBytes([]byte(r.Roots))
	if err != nil {
		log.Fatalf("%s: %v", r.What, err)
	}
	chain, err := cert.ParseCertsPEM([]byte(r.Chain))
	if err != nil {
		r.Refused = true
		return
	}
	options := x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	request := &http.Request{TLS: &tls.ConnectionState{PeerCertificates: chain}}
	response, ok, err := x509request.New(options, x509request.CommonNameUserConversion).AuthenticateRequest(request)
	if err != nil {
		r.Refused = true
	} else if ok {
		u := response.User
		r.User = &user{u.GetName(), u.GetUID(), append([]string{}, u.GetGroups()...), u.GetExtra()}
	}
}
