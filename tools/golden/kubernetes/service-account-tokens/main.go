// Records how upstream answers TokenReviews of service account tokens, valid and forged. The first line holds the state (keys, objects,
// time), each other line a token with its status. Keys are random, and times are relative to now.
package main

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/anonymous"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/apiserver/pkg/authentication/request/union"
	"k8s.io/apiserver/pkg/authentication/token/tokenfile"
	tokenunion "k8s.io/apiserver/pkg/authentication/token/union"
	"k8s.io/apiserver/pkg/authentication/user"
	typedv1core "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/apis/authentication"
	_ "k8s.io/kubernetes/pkg/apis/authentication/install"
	conversion "k8s.io/kubernetes/pkg/apis/authentication/v1"
	"k8s.io/kubernetes/pkg/registry/authentication/tokenreview"
	"k8s.io/kubernetes/pkg/serviceaccount"

	"coxswain/tools/golden/internal/fixture"
)

const issuer = "https://issuer.example"

var audiences = []string{"api", issuer}

type object map[string]any

type world struct {
	accounts map[string]*v1.ServiceAccount
	pods     map[string]*v1.Pod
	secrets  map[string]*v1.Secret
	nodes    map[string]*v1.Node
}

func find[T any](objects map[string]*T, resource, key, name string) (*T, error) {
	if found, ok := objects[key]; ok {
		return found, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: resource}, name)
}

func (w world) GetServiceAccount(_ context.Context, namespace, name string) (*v1.ServiceAccount, error) {
	return find(w.accounts, "serviceaccounts", namespace+"/"+name, name)
}
func (w world) GetPod(_ context.Context, namespace, name string) (*v1.Pod, error) {
	return find(w.pods, "pods", namespace+"/"+name, name)
}
func (w world) GetSecret(_ context.Context, namespace, name string) (*v1.Secret, error) {
	return find(w.secrets, "secrets", namespace+"/"+name, name)
}
func (w world) GetNode(_ context.Context, name string) (*v1.Node, error) {
	return find(w.nodes, "nodes", name, name)
}

// writer accepts patches of secrets and ignores them.
type writer struct{ typedv1core.SecretInterface }

func (w writer) Secrets(string) typedv1core.SecretInterface { return w }
func (writer) Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (*v1.Secret, error) {
	return nil, nil
}

func main() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	now := time.Now().Truncate(time.Second)
	ours, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	fixture.Must(err)
	older, err := rsa.GenerateKey(rand.Reader, 2048)
	fixture.Must(err)
	strange, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	fixture.Must(err)

	at := func(name, uid string, deleted time.Duration) metav1.ObjectMeta {
		meta := metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(uid)}
		if deleted != 0 {
			when := metav1.NewTime(now.Add(-deleted))
			meta.DeletionTimestamp = &when
		}
		return meta
	}
	w := world{map[string]*v1.ServiceAccount{}, map[string]*v1.Pod{}, map[string]*v1.Secret{}, map[string]*v1.Node{}}
	for _, meta := range []metav1.ObjectMeta{at("robot", "a1", 0), at("leaving", "a2", 30*time.Second), at("left", "a3", 2*time.Minute)} {
		w.accounts["ns/"+meta.Name] = &v1.ServiceAccount{ObjectMeta: meta}
	}
	w.accounts["ns/robot"].Secrets = []v1.ObjectReference{{Name: "auto"}}
	for _, meta := range []metav1.ObjectMeta{at("p", "p1", 0), at("leaving", "p2", 30*time.Second), at("left", "p3", 2*time.Minute)} {
		w.pods["ns/"+meta.Name] = &v1.Pod{ObjectMeta: meta}
	}
	for _, meta := range []metav1.ObjectMeta{at("n", "n1", 0), at("leaving", "n2", 30*time.Second), at("left", "n3", 2*time.Minute)} {
		meta.Namespace = ""
		w.nodes[meta.Name] = &v1.Node{ObjectMeta: meta}
	}
	for _, meta := range []metav1.ObjectMeta{at("s", "s1", 0), at("leaving", "s2", 30*time.Second), at("left", "s3", 2*time.Minute)} {
		w.secrets["ns/"+meta.Name] = &v1.Secret{ObjectMeta: meta}
	}

	es := signer{"ES256", ours}
	kid := keyID(&ours.PublicKey)
	base := func(change func(claims, own object)) string {
		own := object{"namespace": "ns", "serviceaccount": object{"name": "robot", "uid": "a1"}}
		claims := object{"iss": issuer, "sub": "system:serviceaccount:ns:robot", "aud": []string{"api"}, "jti": "id-1",
			"exp": now.Unix() + 3600, "iat": now.Unix(), "nbf": now.Unix(), "kubernetes.io": own}
		change(claims, own)
		return es.sign(object{"kid": kid}, claims)
	}
	legacy := func(change func(claims object)) string {
		claims := object{"iss": "kubernetes/serviceaccount", "sub": "system:serviceaccount:ns:robot",
			"kubernetes.io/serviceaccount/namespace": "ns", "kubernetes.io/serviceaccount/secret.name": "manual",
			"kubernetes.io/serviceaccount/service-account.name": "robot", "kubernetes.io/serviceaccount/service-account.uid": "a1"}
		change(claims)
		return es.sign(object{"kid": kid}, claims)
	}
	holds := func(name, token string, change func(secret *v1.Secret)) string {
		secret := &v1.Secret{ObjectMeta: at(name, "s-"+name, 0), Type: v1.SecretTypeServiceAccountToken, Data: map[string][]byte{"token": []byte(token)}}
		change(secret)
		w.secrets["ns/"+name] = secret
		return token
	}
	of := func(name string) func(object) {
		return func(claims object) { claims["kubernetes.io/serviceaccount/secret.name"] = name }
	}
	as := func(account, uid string) func(claims, own object) {
		return func(claims, own object) {
			own["serviceaccount"] = object{"name": account, "uid": uid}
			claims["sub"] = "system:serviceaccount:ns:" + account
		}
	}
	bind := func(kind, name, uid string) func(claims, own object) {
		return func(_, own object) { own[kind] = object{"name": name, "uid": uid} }
	}
	claim := func(name string, value any) func(claims, own object) {
		return func(claims, _ object) {
			if value == nil {
				delete(claims, name)
			} else {
				claims[name] = value
			}
		}
	}
	own := func(name string, value any) func(claims, own object) {
		return func(_, own object) {
			if value == nil {
				delete(own, name)
			} else {
				own[name] = value
			}
		}
	}
	none := func(claims, own object) {}
	good := base(none)
	parts := strings.Split(good, ".")
	plain := func(secret *v1.Secret) {}

	type row struct {
		What      string                             `json:"what"`
		Token     string                             `json:"token"`
		Audiences []string                           `json:"audiences,omitempty"`
		Status    authenticationv1.TokenReviewStatus `json:"status"`
	}
	rows := []row{
		{What: "good", Token: good},
		{What: "for others", Token: good, Audiences: []string{"x"}},
		{What: "for us and others", Token: good, Audiences: []string{"x", "api", "y"}},
		{What: "of two audiences", Token: base(claim("aud", []string{"api", "x"})), Audiences: []string{"x", "y"}},
		{What: "one audience, as a text", Token: base(claim("aud", "api"))},
		{What: "no audience", Token: base(claim("aud", nil))},
		{What: "an empty list of audiences", Token: base(claim("aud", []string{}))},
		{What: "an audience with quotes", Token: base(claim("aud", []string{"a\"b\n<"}))},
		{What: "a static token", Token: "static"},
		{What: "a static token for others", Token: "static", Audiences: []string{"x"}},
		{What: "a static token for us", Token: "static", Audiences: []string{"x", issuer}},
		{What: "nobody's token", Token: "nobody"},
		{What: "spaces", Token: "  "},
		{What: "spaces for others", Token: "  ", Audiences: []string{"x"}},
		{What: "a token after a space", Token: " static"},
		{What: "expired within the leeway", Token: base(claim("exp", now.Unix()-30))},
		{What: "expired", Token: base(claim("exp", now.Unix()-90))},
		{What: "no end", Token: base(claim("exp", nil))},
		{What: "an end that is no number", Token: base(claim("exp", "tomorrow"))},
		{What: "not valid yet", Token: base(claim("nbf", now.Unix()+90))},
		{What: "issued in the future", Token: base(claim("iat", now.Unix()+90))},
		{What: "another issuer", Token: base(claim("iss", "https://evil.example"))},
		{What: "no issuer", Token: base(claim("iss", nil))},
		{What: "no id", Token: base(claim("jti", nil))},
		{What: "a subject of others", Token: base(claim("sub", "system:serviceaccount:ns:other"))},
		{What: "an account that is not there", Token: base(as("absent", "a9"))},
		{What: "an account with another uid", Token: base(as("robot", "a9"))},
		{What: "an account that is leaving", Token: base(as("leaving", "a2"))},
		{What: "an account that has left", Token: base(as("left", "a3"))},
		{What: "another namespace", Token: base(own("namespace", "other"))},
		{What: "no kubernetes.io", Token: base(claim("kubernetes.io", nil))},
		{What: "kubernetes.io is a text", Token: base(claim("kubernetes.io", "x"))},
		{What: "a pod", Token: base(bind("pod", "p", "p1"))},
		{What: "a pod and its node", Token: base(func(c, o object) { bind("pod", "p", "p1")(c, o); bind("node", "gone", "n9")(c, o) })},
		{What: "a pod that is not there", Token: base(bind("pod", "absent", "p9"))},
		{What: "a pod with another uid", Token: base(bind("pod", "p", "p9"))},
		{What: "a pod that is leaving", Token: base(bind("pod", "leaving", "p2"))},
		{What: "a pod that has left", Token: base(bind("pod", "left", "p3"))},
		{What: "a pod that is a text", Token: base(own("pod", "p"))},
		{What: "a node", Token: base(bind("node", "n", "n1"))},
		{What: "a node that is not there", Token: base(bind("node", "absent", "n9"))},
		{What: "a node with another uid", Token: base(bind("node", "n", "n9"))},
		{What: "a node that is leaving", Token: base(bind("node", "leaving", "n2"))},
		{What: "a node that has left", Token: base(bind("node", "left", "n3"))},
		{What: "a secret", Token: base(bind("secret", "s", "s1"))},
		{What: "a secret that is not there", Token: base(bind("secret", "absent", "s9"))},
		{What: "a secret with another uid", Token: base(bind("secret", "s", "s9"))},
		{What: "a secret that is leaving", Token: base(bind("secret", "leaving", "s2"))},
		{What: "a secret that has left", Token: base(bind("secret", "left", "s3"))},
		{What: "to be read again soon", Token: base(own("warnafter", now.Unix()+10))},
		{What: "should have been read again", Token: base(own("warnafter", now.Unix()-10))},
		{What: "no kid", Token: es.sign(object{}, decode(parts[1]))},
		{What: "an empty kid", Token: es.sign(object{"kid": ""}, decode(parts[1]))},
		{What: "another key's kid", Token: es.sign(object{"kid": keyID(&older.PublicKey)}, decode(parts[1]))},
		{What: "an unknown kid", Token: es.sign(object{"kid": "x"}, decode(parts[1]))},
		{What: "the older key", Token: signer{"RS256", older}.sign(object{}, decode(parts[1]))},
		{What: "a key that is not ours", Token: signer{"ES256", strange}.sign(object{}, decode(parts[1]))},
		{What: "a key that is not ours, under our kid", Token: signer{"ES256", strange}.sign(object{"kid": kid}, decode(parts[1]))},
		{What: "HS256 with the public key", Token: signer{"HS256", pemOf(&ours.PublicKey)}.sign(object{"kid": kid}, decode(parts[1]))},
		{What: "alg none", Token: encode(object{"alg": "none"}) + "." + parts[1] + "."},
		{What: "alg none with a signature", Token: encode(object{"alg": "none"}) + "." + parts[1] + "." + parts[2]},
		{What: "no signature", Token: parts[0] + "." + parts[1] + "."},
		{What: "another payload", Token: parts[0] + "." + encode(object{"iss": issuer, "sub": "x"}) + "." + parts[2]},
		{What: "two parts", Token: parts[0] + "." + parts[1]},
		{What: "four parts", Token: good + ".x"},
		{What: "a payload that is no JSON", Token: parts[0] + ".AAAA." + parts[2]},
		{What: "a header that is no JSON", Token: "AAAA." + parts[1] + "." + parts[2]},
		{What: "padding", Token: good + "=="},
		{What: "a manual secret", Token: holds("manual", legacy(func(object) {}), plain)},
		{What: "an automatic secret", Token: holds("auto", legacy(of("auto")), plain)},
		{What: "a legacy token for others", Token: legacy(func(object) {}), Audiences: []string{"x"}},
		{What: "a legacy token for us", Token: legacy(func(object) {}), Audiences: []string{issuer}},
		{What: "a legacy token with a secret that is not there", Token: legacy(of("absent"))},
		{What: "a legacy token that is not the secret's", Token: legacy(of("s"))},
		{What: "a legacy token of a secret that is leaving", Token: holds("going", legacy(of("going")), func(secret *v1.Secret) {
			when := metav1.NewTime(now.Add(-time.Second))
			secret.DeletionTimestamp = &when
		})},
		{What: "a legacy token that is marked", Token: holds("marked", legacy(of("marked")), func(secret *v1.Secret) {
			secret.Labels = map[string]string{"kubernetes.io/legacy-token-invalid-since": "2026-01-01"}
		})},
		{What: "a legacy token of an account that is not there", Token: holds("orphan", legacy(func(claims object) {
			of("orphan")(claims)
			claims["sub"] = "system:serviceaccount:ns:absent"
			claims["kubernetes.io/serviceaccount/service-account.name"] = "absent"
		}), plain)},
		{What: "a legacy token of an account that is leaving", Token: holds("ofleaving", legacy(func(claims object) {
			of("ofleaving")(claims)
			claims["sub"] = "system:serviceaccount:ns:leaving"
			claims["kubernetes.io/serviceaccount/service-account.name"] = "leaving"
			claims["kubernetes.io/serviceaccount/service-account.uid"] = "a2"
		}), plain)},
		{What: "a legacy token with another uid", Token: holds("uid", legacy(func(claims object) {
			of("uid")(claims)
			claims["kubernetes.io/serviceaccount/service-account.uid"] = "a9"
		}), plain)},
	}
	for _, name := range []string{"sub", "kubernetes.io/serviceaccount/namespace", "kubernetes.io/serviceaccount/secret.name",
		"kubernetes.io/serviceaccount/service-account.name", "kubernetes.io/serviceaccount/service-account.uid"} {
		rows = append(rows, row{What: "a legacy token without " + name, Token: legacy(func(claims object) { delete(claims, name) })})
	}
	rows = append(rows, row{What: "a legacy token with another subject", Token: legacy(func(claims object) { claims["sub"] = "x" })})

	getter, err := serviceaccount.StaticPublicKeysGetter([]interface{}{&ours.PublicKey, &older.PublicKey})
	fixture.Must(err)
	validator, err := serviceaccount.NewLegacyValidator(true, w, writer{})
	fixture.Must(err)
	static := tokenfile.New(map[string]*user.DefaultInfo{"static": {Name: "eve", UID: "7", Groups: []string{"a"}}})
	tokens := tokenunion.New(
		authenticator.WrapAudienceAgnosticToken(audiences, static),
		serviceaccount.JWTTokenAuthenticator([]string{serviceaccount.LegacyIssuer}, getter, audiences, validator),
		serviceaccount.JWTTokenAuthenticator([]string{issuer}, getter, audiences, serviceaccount.NewValidator(w)),
	)
	// As in a server, whose own token is the first that is tried.
	loopback := tokenfile.New(map[string]*user.DefaultInfo{"loopback": {Name: "system:apiserver", Groups: []string{"system:masters"}}})
	rest := tokenreview.NewREST(union.New(
		bearertoken.New(authenticator.WrapAudienceAgnosticToken(audiences, loopback)),
		union.NewFailOnError(
			group.NewAuthenticatedGroupAdder(union.New(bearertoken.New(tokens))),
			anonymous.NewAuthenticator(nil),
		),
	), audiences)

	fixture.Write(object{
		"now": now.UnixMilli(), "issuer": issuer, "audiences": audiences, "keys": []string{string(pemOf(&ours.PublicKey)), string(pemOf(&older.PublicKey))},
		"serviceaccounts": w.accounts, "pods": w.pods, "secrets": w.secrets, "nodes": w.nodes,
	})
	for _, r := range rows {
		answer, err := rest.Create(context.Background(), &authentication.TokenReview{Spec: authentication.TokenReviewSpec{Token: r.Token, Audiences: r.Audiences}}, nil, nil)
		fixture.Must(err)
		fixture.Must(conversion.Convert_authentication_TokenReviewStatus_To_v1_TokenReviewStatus(&answer.(*authentication.TokenReview).Status, &r.Status, nil))
		fixture.Write(r)
	}
}

type signer struct {
	algorithm string
	key       any
}

func (s signer) sign(header, claims object) string {
	header["alg"] = s.algorithm
	text := encode(header) + "." + encode(claims)
	digest := sha256.Sum256([]byte(text))
	var signature []byte
	switch key := s.key.(type) {
	case *ecdsa.PrivateKey:
		r, t, err := ecdsa.Sign(rand.Reader, key, digest[:])
		fixture.Must(err)
		signature = append(r.FillBytes(make([]byte, 32)), t.FillBytes(make([]byte, 32))...)
	case *rsa.PrivateKey:
		var err error
		signature, err = rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
		fixture.Must(err)
	case []byte:
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(text))
		signature = mac.Sum(nil)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func encode(value any) string {
	text, err := json.Marshal(value)
	fixture.Must(err)
	return base64.RawURLEncoding.EncodeToString(text)
}

func decode(part string) object {
	text, err := base64.RawURLEncoding.DecodeString(part)
	fixture.Must(err)
	var value object
	fixture.Must(json.Unmarshal(text, &value))
	return value
}

func keyID(key any) string {
	der, err := x509.MarshalPKIXPublicKey(key)
	fixture.Must(err)
	sum := sha256.Sum256(der)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func pemOf(key any) []byte {
	der, err := x509.MarshalPKIXPublicKey(key)
	fixture.Must(err)
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}
