// Prints what upstream makes of the configuration files on standard input, one JSON object a line: of an AuthenticationConfiguration its error, as it
// is told at a reload and without the lead-ins of the file, and what becomes of tokens with the given claims; of an EgressSelectorConfiguration its
// error. Signatures are not looked at. All but what is given is made anew.
package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/coreos/go-oidc"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/apis/apiserver/install"
	"k8s.io/apiserver/pkg/apis/apiserver/validation"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	authenticationcel "k8s.io/apiserver/pkg/authentication/cel"
	"k8s.io/apiserver/pkg/authentication/token/union"
	"k8s.io/apiserver/pkg/server/egressselector"
	oidcauth "k8s.io/apiserver/plugin/pkg/authenticator/token/oidc"
	"k8s.io/klog/v2"
)

type row struct {
	What       string   `json:"what"`
	Config     string   `json:"config,omitempty"`
	Egress     string   `json:"egress,omitempty"`
	Disallowed []string `json:"disallowed,omitempty"`
	Error      string   `json:"error,omitempty"`
	Tokens     []token  `json:"tokens,omitempty"`
}

type token struct {
	// As they stand in the token.
	Claims string `json:"claims"`
	User   *who   `json:"user,omitempty"`
	// No authenticator is for its issuer.
	Unknown bool   `json:"unknown,omitempty"`
	Error   string `json:"error,omitempty"`
}

type who struct {
	Name   string              `json:"name"`
	UID    string              `json:"uid"`
	Groups []string            `json:"groups"`
	Extra  map[string][]string `json:"extra"`
}

var scheme = runtime.NewScheme()

func main() {
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	install.Install(scheme)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		if len(in.Bytes()) == 0 {
			continue
		}
		var r row
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			log.Fatal(err)
		}
		r.Error = ""
		if err := answer(&r); err != nil {
			r.Error = err.Error()
		}
		out := json.NewEncoder(os.Stdout)
		out.SetEscapeHTML(false)
		if err := out.Encode(r); err != nil {
			log.Fatal(err)
		}
	}
}

func answer(r *row) error {
	if r.Egress != "" {
		return egress(r.Egress)
	}
	if len(r.Config) == 0 {
		return fmt.Errorf("empty config data")
	}
	codecs := serializer.NewCodecFactory(scheme, serializer.EnableStrict)
	decoded, err := runtime.Decode(codecs.UniversalDecoder(), []byte(r.Config))
	if err != nil {
		return err
	}
	config, ok := decoded.(*apiserver.AuthenticationConfiguration)
	if !ok {
		return fmt.Errorf("expected AuthenticationConfiguration, got %T", decoded)
	}
	if err := validation.ValidateAuthenticationConfiguration(authenticationcel.NewDefaultCompiler(), config, r.Disallowed).ToAggregate(); err != nil {
		return err
	}
	var all []authenticator.Token
	for _, one := range config.JWT {
		made, err := oidcauth.New(context.Background(), oidcauth.Options{
			JWTAuthenticator:     one,
			KeySet:               anyKey{},
			SupportedSigningAlgs: oidcauth.AllValidSigningAlgorithms(),
			DisallowedIssuers:    r.Disallowed,
		})
		if err != nil {
			return err
		}
		all = append(all, made)
	}
	authenticate := union.NewFailOnError(all...)
	for i := range r.Tokens {
		judge(authenticate, &r.Tokens[i])
	}
	return nil
}

func judge(authenticate authenticator.Token, t *token) {
	*t = token{Claims: t.Claims}
	encode := base64.RawURLEncoding.EncodeToString
	text := strings.Join([]string{encode([]byte(`{"alg":"RS256"}`)), encode([]byte(t.Claims)), encode([]byte("x"))}, ".")
	response, known, err := authenticate.AuthenticateToken(context.Background(), text)
	switch {
	case err != nil:
		t.Error = err.Error()
	case !known:
		t.Unknown = true
	default:
		u := response.User
		t.User = &who{Name: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups(), Extra: u.GetExtra()}
	}
}

type anyKey struct{}

var _ oidc.KeySet = anyKey{}

func (anyKey) VerifySignature(_ context.Context, jwt string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.Split(jwt, ".")[1])
}

func egress(text string) error {
	file, err := os.CreateTemp("", "egress")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	if _, err := file.WriteString(text); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	config, err := egressselector.ReadEgressSelectorConfiguration(file.Name())
	if err != nil {
		return fmt.Errorf("failed to read egress selector config: %v", err)
	}
	if errs := egressselector.ValidateEgressSelectorConfiguration(config); len(errs) > 0 {
		return fmt.Errorf("failed to validate egress selector configuration: %v", errs.ToAggregate())
	}
	return nil
}
