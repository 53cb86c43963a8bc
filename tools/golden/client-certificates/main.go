// Records which user upstream authenticates by each of the client certificates on standard input.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"log"
	"net/http"

	x509request "k8s.io/apiserver/pkg/authentication/request/x509"
	"k8s.io/client-go/util/cert"

	"coxswain/tools/golden/internal/fixture"
)

type row struct {
	What  string        `json:"what"`
	Roots string        `json:"roots"`
	Chain string        `json:"chain"`
	Key   string        `json:"key"`
	User  *fixture.User `json:"user,omitempty"`
	// Without a user and this, the authenticator does not handle the certificate.
	Rejected bool `json:"refused,omitempty"`
}

func main() {
	for r := range fixture.Rows[row]() {
		authenticate(&r)
		fixture.Write(r)
	}
}

func authenticate(r *row) {
	roots, err := cert.NewPoolFromBytes([]byte(r.Roots))
	if err != nil {
		log.Fatalf("%s: %v", r.What, err)
	}
	chain, err := cert.ParseCertsPEM([]byte(r.Chain))
	if err != nil {
		r.Rejected = true
		return
	}
	options := x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	request := &http.Request{TLS: &tls.ConnectionState{PeerCertificates: chain}}
	response, ok, err := x509request.New(options, x509request.CommonNameUserConversion).AuthenticateRequest(request)
	if err != nil {
		r.Rejected = true
	} else if ok {
		r.User = fixture.UserOf(response.User)
		r.User.Groups = append([]string{}, r.User.Groups...) // Never null.
	}
}
