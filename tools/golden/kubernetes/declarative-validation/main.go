// Records the errors that declarative validation finds in the objects on standard input. Writes each case, then a line with its
// errors: [type, field, message, origin, level]. Objects are as they are after defaulting. The order of errors about the entries of
// a map varies.
package main

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"

	"coxswain/tools/golden/internal/fixture"
)

type validation struct {
	Group, Version, Kind string
	Subresources         []string
	Options              []string
	Object               json.RawMessage
	Old                  json.RawMessage
}

func main() {
	for line := range fixture.Rows[json.RawMessage]() {
		var one validation
		fixture.Must(json.Unmarshal(line, &one))
		fixture.Write(line)
		fixture.Write(run(one))
	}
}

func run(one validation) [][]string {
	kind := schema.GroupVersionKind{Group: one.Group, Version: one.Version, Kind: one.Kind}
	object := decode(kind, one.Object)
	var errs field.ErrorList
	if len(one.Old) == 0 {
		errs = legacyscheme.Scheme.Validate(context.Background(), one.Options, object, one.Subresources...)
	} else {
		errs = legacyscheme.Scheme.ValidateUpdate(context.Background(), one.Options, object, decode(kind, one.Old), one.Subresources...)
	}
	shown := [][]string{}
	for _, e := range errs {
		level := "standard"
		if e.IsAlpha() {
			level = "alpha"
		} else if e.IsBeta() {
			level = "beta"
		}
		shown = append(shown, []string{string(e.Type), e.Field, e.ErrorBody(), e.Origin, level})
	}
	return shown
}

func decode(kind schema.GroupVersionKind, text []byte) runtime.Object {
	object, err := legacyscheme.Scheme.New(kind)
	fixture.Must(err)
	fixture.Must(json.Unmarshal(text, object))
	return object
}
