// Validates objects by the validation that is generated from the types of the API, and prints what it finds.
//
//	go run . < CASES > ERRORS
//
// A case is a line of JSON; its object and old object are as they are after defaulting. An error is [type, field, message, origin, level].
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"

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
)

type validation struct {
	Group, Version, Kind string
	Subresources         []string
	Options              []string
	Object               json.RawMessage
	Old                  json.RawMessage
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for lines.Scan() {
		var one validation
		check(json.Unmarshal(lines.Bytes(), &one))
		check(out.Encode(run(one)))
	}
	check(lines.Err())
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
	check(err)
	check(json.Unmarshal(text, object))
	return object
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
