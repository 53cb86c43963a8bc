// Records random audit events as upstream writes them (argument `events`), or random audit policies with what they decide for
// random requests (argument `policies`). The order of `omitStages` in a recorded policy varies: upstream merges stages in a set.
package main

import (
	"bytes"
	"math/rand"
	"os"
	"sort"
	"strings"
	"time"

	authnv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/apis/audit/install"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/audit/policy"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"coxswain/tools/golden/internal/fixture"
)

var chance = rand.New(rand.NewSource(9))

var texts = []string{"", "a", "ann", "<b>&'\"", "tab\tline\n", "\u2028\u2029", "\x00\x7f\u0080", "ä€😀", `back\slash`, "system:masters", strings.Repeat("long ", 8)}

func one[T any](of []T) T { return of[chance.Intn(len(of))] }
func text() string        { return one(texts) }
func often() bool         { return chance.Intn(3) > 0 }

func list(most int) []string {
	var all []string
	for n := chance.Intn(most + 1); n > 0; n-- {
		all = append(all, text())
	}
	return all
}

func userInfo() authnv1.UserInfo {
	info := authnv1.UserInfo{Username: text(), UID: text(), Groups: list(3)}
	for n := chance.Intn(3); n > 0; n-- {
		if info.Extra == nil {
			info.Extra = map[string]authnv1.ExtraValue{}
		}
		info.Extra[text()] = append(list(1), text())
	}
	return info
}

var objects = []string{`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}`, `{"a":"\u003cb\u003e","n":[1,2.5,null,true]}`, `[{"op":"add","path":"/x","value":{}}]`, `"text"`}

func object() *runtime.Unknown {
	if !often() {
		return nil
	}
	return &runtime.Unknown{Raw: []byte(one(objects)), ContentType: runtime.ContentTypeJSON}
}

func event() *auditinternal.Event {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(chance.Intn(5000)) * time.Millisecond)
	if chance.Intn(4) == 0 {
		at = at.Truncate(time.Second)
	}
	ev := &auditinternal.Event{
		Level:                    one([]auditinternal.Level{auditinternal.LevelMetadata, auditinternal.LevelRequest, auditinternal.LevelRequestResponse}),
		AuditID:                  types.UID(text()),
		Stage:                    one([]auditinternal.Stage{auditinternal.StageRequestReceived, auditinternal.StageResponseStarted, auditinternal.StageResponseComplete, auditinternal.StagePanic}),
		RequestURI:               "/" + text(),
		Verb:                     one([]string{"get", "list", "watch", "patch"}),
		User:                     userInfo(),
		SourceIPs:                list(3),
		UserAgent:                text(),
		RequestObject:            object(),
		ResponseObject:           object(),
		RequestReceivedTimestamp: metav1.NewMicroTime(at),
		StageTimestamp:           metav1.NewMicroTime(at.Add(time.Duration(chance.Intn(3000)) * time.Millisecond)),
	}
	if chance.Intn(3) == 0 {
		info := userInfo()
		ev.ImpersonatedUser = &info
		if often() {
			ev.AuthenticationMetadata = &auditinternal.AuthenticationMetadata{ImpersonationConstraint: "impersonate:" + one([]string{"user-info", "arbitrary-node"})}
		}
	}
	if often() {
		ev.ObjectRef = &auditinternal.ObjectReference{Resource: "pods", Namespace: text(), Name: text(), UID: types.UID(text()), APIGroup: text(), APIVersion: "v1", ResourceVersion: one([]string{"", "7"}), Subresource: one([]string{"", "log"})}
	}
	if often() {
		ev.ResponseStatus = &metav1.Status{Status: one([]string{"", "Success", "Failure"}), Message: text(), Reason: one([]metav1.StatusReason{"", "NotFound"}), Code: one([]int32{0, 200, 404})}
		if often() {
			ev.ResponseStatus.Details = &metav1.StatusDetails{Name: "a", Kind: "pods", Causes: []metav1.StatusCause{{Type: "FieldValueInvalid", Message: "<no>", Field: "spec.x"}}}
		}
	}
	for n := chance.Intn(3); n > 0; n-- {
		if ev.Annotations == nil {
			ev.Annotations = map[string]string{}
		}
		ev.Annotations["a.b/"+text()] = text()
	}
	return ev
}

func encoded(object runtime.Object) string {
	var out bytes.Buffer
	fixture.Must(audit.Codecs.LegacyCodec(auditv1.SchemeGroupVersion).Encode(object, &out))
	return out.String()
}

func events() {
	for n := 0; n < 120; n++ {
		ev := event()
		row := map[string]string{"line": encoded(ev), "legacy": audit.EventString(ev) + "\n"}
		if n < 10 {
			row["list"] = encoded(&auditinternal.EventList{Items: []auditinternal.Event{*ev, *ev}})
		}
		fixture.Write(row)
	}
}

type asked struct {
	User            string   `json:"user"`
	Groups          []string `json:"groups"`
	Anonymous       bool     `json:"nobody,omitempty"`
	Verb            string   `json:"verb"`
	ResourceRequest bool     `json:"isResourceRequest"`
	Path            string   `json:"path"`
	Group           string   `json:"group"`
	Resource        string   `json:"resource"`
	Subresource     string   `json:"subresource"`
	Namespace       string   `json:"namespace"`
	Name            string   `json:"name"`
}

var users = []string{"ann", "bob", "system:kube-proxy"}
var groups = []string{"dev", "ops", "system:nodes"}
var verbs = []string{"get", "list", "create", "delete"}
var resources = []string{"pods", "secrets", "pods/log", "pods/*", "*/log", "*", "*/*", "pods/status"}
var apiGroups = []string{"", "apps", "*"}
var namespaces = []string{"", "one", "two"}
var names = []string{"a", "b"}
var urls = []string{"*", "/healthz*", "/version", "/", "/a/*", "/version/"}
var stages = []auditinternal.Stage{auditinternal.StageRequestReceived, auditinternal.StageResponseStarted, auditinternal.StageResponseComplete, auditinternal.StagePanic}

func some[T any](of []T) []T {
	var all []T
	for _, x := range of {
		if chance.Intn(len(of)) == 0 {
			all = append(all, x)
		}
	}
	return all
}

func flag() *bool {
	if chance.Intn(2) == 0 {
		return nil
	}
	value := chance.Intn(2) == 0
	return &value
}

func rule() auditinternal.PolicyRule {
	r := auditinternal.PolicyRule{
		Level:             one([]auditinternal.Level{auditinternal.LevelNone, auditinternal.LevelMetadata, auditinternal.LevelRequest, auditinternal.LevelRequestResponse}),
		OmitStages:        some(stages),
		OmitManagedFields: flag(),
	}
	if chance.Intn(3) == 0 {
		r.Users = some(users)
	}
	if chance.Intn(3) == 0 {
		r.UserGroups = some(groups)
	}
	if chance.Intn(3) == 0 {
		r.Verbs = some(verbs)
	}
	switch chance.Intn(4) {
	case 0:
		r.NonResourceURLs = some(urls)
	case 1, 2:
		for n := chance.Intn(3); n > 0; n-- {
			of := auditinternal.GroupResources{Group: one(apiGroups), Resources: some(resources)}
			if len(of.Resources) > 0 && chance.Intn(2) == 0 {
				of.ResourceNames = some(names)
			}
			r.Resources = append(r.Resources, of)
		}
		if chance.Intn(2) == 0 {
			r.Namespaces = some(namespaces)
		}
	}
	return r
}

func request() (asked, authorizer.Attributes) {
	a := asked{Verb: one(verbs), ResourceRequest: often(), Anonymous: chance.Intn(8) == 0}
	attributes := authorizer.AttributesRecord{Verb: a.Verb, ResourceRequest: a.ResourceRequest, APIVersion: "v1"}
	if !a.Anonymous {
		a.User, a.Groups = one(users), some(groups)
		attributes.User = &user.DefaultInfo{Name: a.User, Groups: a.Groups}
	}
	if a.ResourceRequest {
		a.Group, a.Resource, a.Subresource = one([]string{"", "apps"}), one([]string{"pods", "secrets"}), one([]string{"", "log", "status"})
		a.Namespace, a.Name, a.Path = one(namespaces), one([]string{"", "a", "b"}), "/api/v1/x"
	} else {
		a.Path = one([]string{"/", "/healthz", "/healthz/etcd", "/version", "/version/", "/a", "/a/b"})
	}
	attributes.APIGroup, attributes.Resource, attributes.Subresource = a.Group, a.Resource, a.Subresource
	attributes.Namespace, attributes.Name, attributes.Path = a.Namespace, a.Name, a.Path
	return a, attributes
}

func policies() {
	for n := 0; n < 100; n++ {
		p := &auditinternal.Policy{OmitStages: some(stages), OmitManagedFields: chance.Intn(2) == 0}
		for rules := 1 + chance.Intn(4); rules > 0; rules-- {
			p.Rules = append(p.Rules, rule())
		}
		evaluator := policy.NewPolicyRuleEvaluator(p)
		var answers []map[string]any
		for requests := 0; requests < 8; requests++ {
			a, attributes := request()
			config := evaluator.EvaluatePolicyRule(attributes)
			omitted := []string{}
			seen := map[string]bool{}
			for _, stage := range config.OmitStages {
				if !seen[string(stage)] {
					omitted = append(omitted, string(stage))
				}
				seen[string(stage)] = true
			}
			sort.Strings(omitted)
			answers = append(answers, map[string]any{"asked": a, "level": config.Level, "omitStages": omitted, "omitManagedFields": config.OmitManagedFields})
		}
		fixture.Write(map[string]any{"policy": encoded(p), "answers": answers})
	}
}

func main() {
	install.Install(audit.Scheme)
	map[string]func(){"events": events, "policies": policies}[os.Args[1]]()
}
