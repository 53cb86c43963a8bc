// Records what upstream makes of configuration files: of an AuthenticationConfiguration the error that a reload logs, without the
// prefix that names the file, and the users that tokens with the given claims authenticate; of an EgressSelectorConfiguration the
// error. Signatures are not verified. Reads rows from standard input and replaces their answers.
package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
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

	"coxswain/tools/golden/internal/fixture"
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
	// JSON, as in the token.
	Claims string        `json:"claims"`
	User   *fixture.User `json:"user,omitempty"`
	// No authenticator handles its issuer.
	Unknown bool   `json:"unknown,omitempty"`
	Error   string `json:"error,omitempty"`
}

var scheme = runtime.NewScheme()

func main() {
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	install.Install(scheme)
	for r := range fixture.Rows[row]() {
		r.Error = ""
		if err := answer(&r); err != nil {
			r.Error = err.Error()
		}
		fixture.Write(r)
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
		t.User = fixture.UserOf(response.User)
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
