// Records what upstream's webhook authorizer does with the rows on standard input, and replaces their answers: for a configuration
// `file` its `error` or `config`; for `conditions` over a `spec` whether they `match`, or the `error`; for `attributes` the body and
// headers `sent` in a review, and for the `answer` to it the `decision`, `reason` and `error`, and how often it was `asked`.
package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/apis/apiserver/load"
	"k8s.io/apiserver/pkg/apis/apiserver/validation"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	authorizationcel "k8s.io/apiserver/pkg/authorization/cel"
	"k8s.io/apiserver/plugin/pkg/authorizer/webhook"
	"k8s.io/apiserver/plugin/pkg/authorizer/webhook/metrics"
	"k8s.io/client-go/rest"

	"coxswain/tools/golden/internal/fixture"
)

type row struct {
	What string `json:"what,omitempty"`

	File   *string                               `json:"file,omitempty"`
	Config *apiserver.AuthorizationConfiguration `json:"config,omitempty"`

	Conditions []string                                 `json:"conditions,omitempty"`
	Spec       *authorizationv1.SubjectAccessReviewSpec `json:"spec,omitempty"`
	Match      *bool                                    `json:"match,omitempty"`

	Attributes *attributes `json:"attributes,omitempty"`
	Version    string      `json:"version,omitempty"`
	Sent       *sent       `json:"sent,omitempty"`

	Answer   *answer `json:"answer,omitempty"`
	Decision string  `json:"decision,omitempty"`
	Reason   string  `json:"reason,omitempty"`
	Asked    int     `json:"asked,omitempty"`

	Error string `json:"error,omitempty"`
}

type attributes struct {
	User          string              `json:"user"`
	UID           string              `json:"uid,omitempty"`
	Groups        []string            `json:"groups,omitempty"`
	Extra         map[string][]string `json:"extra,omitempty"`
	Verb          string              `json:"verb,omitempty"`
	Path          string              `json:"path,omitempty"`
	Group         string              `json:"group,omitempty"`
	Version       string              `json:"version,omitempty"`
	Resource      string              `json:"resource,omitempty"`
	Subresource   string              `json:"subresource,omitempty"`
	Namespace     string              `json:"namespace,omitempty"`
	Name          string              `json:"name,omitempty"`
	FieldSelector string              `json:"fieldSelector,omitempty"`
	LabelSelector string              `json:"labelSelector,omitempty"`
}

type sent struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

type answer struct {
	Status int    `json:"status"`
	Type   string `json:"type,omitempty"`
	Body   string `json:"body,omitempty"`
	// The body in base64, where it is not text.
	Bytes   string            `json:"bytes,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

func main() {
	compiler := authorizationcel.NewDefaultCompiler()
	for r := range fixture.Rows[row]() {
		r.Error, r.Config, r.Match, r.Sent, r.Decision, r.Reason, r.Asked = "", nil, nil, nil, "", "", 0
		switch {
		case r.File != nil:
			r.load(compiler)
		case r.Conditions != nil:
			r.evaluate(compiler)
		default:
			r.review(compiler)
		}
		fixture.Write(r)
	}
}

func (r *row) load(compiler authorizationcel.Compiler) {
	config, err := load.LoadFromData([]byte(*r.File))
	if err != nil {
		r.Error = fmt.Sprintf("failed to load AuthorizationConfiguration from file: %v", err)
		return
	}
	known := sets.New("AlwaysAllow", "AlwaysDeny", "ABAC", "Webhook", "RBAC", "Node")
	if errs := validation.ValidateAuthorizationConfiguration(compiler, nil, config, known, sets.New("Webhook")); len(errs) != 0 {
		r.Error = errs.ToAggregate().Error()
		return
	}
	r.Config = config
}

func (r *row) evaluate(compiler authorizationcel.Compiler) {
	var conditions []apiserver.WebhookMatchCondition
	for _, text := range r.Conditions {
		conditions = append(conditions, apiserver.WebhookMatchCondition{Expression: text})
	}
	matcher, errs := validation.ValidateAndCompileMatchConditions(compiler, conditions)
	if len(errs) > 0 {
		r.Error = errs.ToAggregate().Error()
		return
	}
	matches, err := matcher.Eval(context.Background(), &authorizationv1.SubjectAccessReview{Spec: *r.Spec})
	if err != nil {
		r.Error = err.Error()
		return
	}
	r.Match = &matches
}

func (r *row) review(compiler authorizationcel.Compiler) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.Asked++
		body, _ := io.ReadAll(req.Body)
		r.Sent = &sent{Method: req.Method, Path: req.URL.String(), Body: string(body), Headers: map[string]string{}}
		for name, values := range req.Header {
			r.Sent.Headers[name] = strings.Join(values, ",")
		}
		r.answer(w)
	}))
	defer server.Close()
	backoff := wait.Backoff{Duration: time.Millisecond, Factor: 1.5, Steps: 5}
	w, err := webhook.New(&rest.Config{Host: server.URL + "/authorize?x=1"}, r.Version, 0, 0, backoff, authorizer.DecisionDeny, nil, "n", metrics.NoopAuthorizerMetrics{}, compiler)
	if err != nil {
		r.Error = err.Error()
		return
	}
	decision, reason, err := w.Authorize(context.Background(), r.Attributes.record())
	r.Decision = map[authorizer.Decision]string{authorizer.DecisionAllow: "allow", authorizer.DecisionDeny: "deny", authorizer.DecisionNoOpinion: "noOpinion"}[decision]
	r.Reason = reason
	if err != nil {
		r.Error = strings.ReplaceAll(err.Error(), server.URL, "http://server")
	}
	if r.Answer != nil {
		r.Sent = nil
	}
}

func (r *row) answer(w http.ResponseWriter) {
	a := r.Answer
	if a == nil {
		a = &answer{Status: 200, Type: "application/json", Body: `{"apiVersion":"authorization.k8s.io/` + r.Version + `","kind":"SubjectAccessReview","status":{"allowed":true}}`}
	}
	for name, value := range a.Headers {
		w.Header().Set(name, value)
	}
	if a.Type != "" {
		w.Header().Set("Content-Type", a.Type)
	}
	w.WriteHeader(a.Status)
	body := []byte(a.Body)
	if a.Bytes != "" {
		body, _ = base64.StdEncoding.DecodeString(a.Bytes)
	}
	_, _ = w.Write(body)
}

func (a *attributes) record() authorizer.Attributes {
	record := authorizer.AttributesRecord{
		User: &user.DefaultInfo{Name: a.User, UID: a.UID, Groups: a.Groups, Extra: a.Extra}, Verb: a.Verb, Path: a.Path, APIGroup: a.Group,
		APIVersion: a.Version, Resource: a.Resource, Subresource: a.Subresource, Namespace: a.Namespace, Name: a.Name, ResourceRequest: a.Path == "",
	}
	if a.FieldSelector != "" {
		selector, err := fields.ParseSelector(a.FieldSelector)
		if err == nil {
			record.FieldSelectorRequirements = selector.Requirements()
		}
		record.FieldSelectorParsingErr = err
	}
	if a.LabelSelector != "" {
		selector, err := labels.Parse(a.LabelSelector)
		if err == nil {
			record.LabelSelectorRequirements, _ = selector.Requirements()
		}
		record.LabelSelectorParsingErr = err
	}
	return record
}
