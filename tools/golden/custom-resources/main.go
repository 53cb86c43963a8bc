// Records what upstream's libraries do with custom resources. Reads rows from standard input and replaces `want`, which depends on
// the other fields:
//
//   - definition, and old for an update: the errors of its strategy's validation, and its warnings
//   - schema, value, and old for an update: unknown fields, the value pruned and defaulted, errors of its validation
//   - format and text: whether the text has the format
//
// Errors are sorted, because upstream iterates over maps.
package main

import (
	"context"
	"sort"

	"encoding/json"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/kube-openapi/pkg/validation/strfmt"

	"coxswain/tools/golden/internal/fixture"
)

type row struct {
	What       string          `json:"what,omitempty"`
	Definition json.RawMessage `json:"definition,omitempty"`
	Schema     json.RawMessage `json:"schema,omitempty"`
	Value      json.RawMessage `json:"value,omitempty"`
	Old        json.RawMessage `json:"old,omitempty"`
	Format     string          `json:"format,omitempty"`
	Text       *string         `json:"text,omitempty"`
	Want       json.RawMessage `json:"want,omitempty"`
}

// reason, field, message
type cause [3]string

type definitionAnswer struct {
	Errors   []cause  `json:"errors"`
	Warnings []string `json:"warnings,omitempty"`
}

type objectAnswer struct {
	Unknown    []string `json:"unknown,omitempty"`
	Pruned     any      `json:"pruned"`
	Defaulted  any      `json:"defaulted"`
	Coercion   []cause  `json:"coercion,omitempty"`
	Errors     []cause  `json:"errors,omitempty"`
	ListErrors []cause  `json:"listErrors,omitempty"`
	MetaErrors []cause  `json:"metaErrors,omitempty"`
}

var scheme = runtime.NewScheme()

func init() {
	install.Install(scheme)
}

func main() {
	for given := range fixture.Rows[row]() {
		given.Want = marshal(answer(given))
		fixture.Write(given)
	}
}

func marshal(value any) []byte {
	bytes, err := json.Marshal(value)
	fixture.Must(err)
	return bytes
}

// answer is "panic" where upstream panics.
func answer(given row) (result any) {
	defer func() {
		if reason := recover(); reason != nil {
			result = "panic"
		}
	}()
	switch {
	case given.Definition != nil:
		return definition(given)
	case given.Schema != nil:
		return object(given)
	default:
		return strfmt.Default.Validates(given.Format, *given.Text)
	}
}

func definition(given row) definitionAnswer {
	ctx := context.Background()
	strategy := customresourcedefinition.NewStrategy(scheme)
	next := internal(given.Definition)
	if given.Old == nil {
		strategy.PrepareForCreate(ctx, next)
		return definitionAnswer{causes(strategy.Validate(ctx, next)), strategy.WarningsOnCreate(ctx, next)}
	}
	old := internal(given.Old)
	strategy.PrepareForUpdate(ctx, next, old)
	next.ResourceVersion = "1"
	return definitionAnswer{causes(strategy.ValidateUpdate(ctx, next, old)), strategy.WarningsOnUpdate(ctx, next, old)}
}

func internal(text []byte) *apiextensions.CustomResourceDefinition {
	var v1 apiextensionsv1.CustomResourceDefinition
	fixture.Must(json.Unmarshal(text, &v1))
	scheme.Default(&v1)
	var hub apiextensions.CustomResourceDefinition
	fixture.Must(scheme.Convert(&v1, &hub, nil))
	return &hub
}

func object(given row) objectAnswer {
	var v1 apiextensionsv1.JSONSchemaProps
	fixture.Must(json.Unmarshal(given.Schema, &v1))
	var props apiextensions.JSONSchemaProps
	fixture.Must(apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&v1, &props, nil))
	structural, err := structuralschema.NewStructural(&props)
	fixture.Must(err)
	validator, _, err := validation.NewSchemaValidator(&props)
	fixture.Must(err)
	pruned := value(given.Value)
	var result objectAnswer
	if err := objectmeta.Coerce(nil, pruned, structural, false, false); err != nil {
		result.Coercion = causes(field.ErrorList{err})
	}
	pruned = value(given.Value)
	result.Unknown = pruning.PruneWithOptions(pruned, structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	result.Pruned = pruned
	defaulted := runtime.DeepCopyJSONValue(pruned)
	defaulting.PruneNonNullableNullsWithoutDefaults(defaulted, structural)
	defaulting.Default(defaulted, structural)
	result.Defaulted = defaulted
	raw := value(given.Value)
	if given.Old == nil {
		result.Errors = causes(validation.ValidateCustomResource(nil, raw, validator))
	} else {
		old := value(given.Old)
		correlated := common.NewCorrelatedObject(raw, old, &model.Structural{Structural: structural})
		result.Errors = causes(validation.ValidateCustomResourceUpdate(nil, raw, old, validator, validation.WithRatcheting(correlated)))
	}
	if fields, isObject := raw.(map[string]any); isObject {
		result.ListErrors = causes(listtype.ValidateListSetsAndMaps(nil, structural, fields))
		result.MetaErrors = causes(objectmeta.Validate(nil, fields, structural, false))
	}
	return result
}

func value(text []byte) any {
	var parsed any
	fixture.Must(utiljson.Unmarshal(text, &parsed))
	return parsed
}

func causes(errs field.ErrorList) []cause {
	result := []cause{}
	for _, err := range errs {
		result = append(result, cause{string(err.Type), err.Field, err.ErrorBody()})
	}
	sort.Slice(result, func(i, j int) bool {
		for part := range result[i] {
			if result[i][part] != result[j][part] {
				return result[i][part] < result[j][part]
			}
		}
		return false
	})
	return result
}
