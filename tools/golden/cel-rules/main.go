// Records what upstream does with schemas that contain validation rules. Reads rows from standard input and replaces their answers:
// `check` holds the errors when a definition with the schema is written, `costs` the estimated cost of each rule, `errors` and
// `warnings` what the rules report about `object` (and `oldObject`), `spent` the cost of that. A row with `rules` is short for one row
// for each of them: `each` has the answers for a schema with that rule alone at the root.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"regexp"
	"sort"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/warning"

	"coxswain/tools/golden/internal/fixture"
)

type row struct {
	What      string          `json:"what,omitempty"`
	Schema    json.RawMessage `json:"schema,omitempty"`
	Object    json.RawMessage `json:"object,omitempty"`
	OldObject json.RawMessage `json:"oldObject,omitempty"`
	Budget    int64           `json:"budget,omitempty"`
	Check     []string        `json:"check,omitempty"`
	Costs     []ruleCost      `json:"costs,omitempty"`
	Errors    []string        `json:"errors,omitempty"`
	Warnings  []string        `json:"warnings,omitempty"`
	Spent     *int64          `json:"spent,omitempty"`
	Rules     []string        `json:"rules,omitempty"`
	Each      []row           `json:"each,omitempty"`
}

type ruleCost struct {
	At          string `json:"at"`
	Max         uint64 `json:"max"`
	Repetitions uint64 `json:"repetitions"`
	Message     uint64 `json:"message,omitempty"`
	Transition  bool   `json:"transition,omitempty"`
}

var generatedName = regexp.MustCompile(`selfType\d+`)

func main() {
	for given := range fixture.Rows[row]() {
		given.Each = nil
		if given.Rules == nil {
			answer(&given)
		}
		for _, rule := range given.Rules {
			given.Each = append(given.Each, withRule(given, rule))
		}
		fixture.Write(given)
	}
}

// withRule returns the answers for the schema with one rule at the root.
func withRule(given row, rule string) row {
	var external map[string]any
	fixture.Must(json.Unmarshal(given.Schema, &external))
	external["x-kubernetes-validations"] = []map[string]string{{"rule": rule}}
	text, err := json.Marshal(external)
	fixture.Must(err)
	one := row{What: rule, Schema: text, Object: given.Object, OldObject: given.OldObject}
	answer(&one)
	one.Schema, one.Object, one.OldObject = nil, nil, nil
	return one
}

func texts[E error](errs []E) []string {
	var result []string
	for _, err := range errs {
		result = append(result, generatedName.ReplaceAllString(err.Error(), "selfType"))
	}
	sort.Strings(result)
	return result
}

func answer(given *row) {
	given.Check, given.Costs, given.Errors, given.Warnings, given.Spent = nil, nil, nil, nil, nil
	var external v1.JSONSchemaProps
	if err := json.Unmarshal(given.Schema, &external); err != nil {
		log.Fatalf("%s: %v", given.Schema, err)
	}
	var internal apiextensions.JSONSchemaProps
	fixture.Must(v1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&external, &internal, nil))
	given.Check = texts(validation.ValidateCustomResourceDefinition(context.Background(), definition(&internal)))
	structural, err := schema.NewStructural(&internal)
	fixture.Must(err)
	costs(given, structural, "", true)
	if given.Object != nil {
		validate(given, structural)
	}
}

func definition(schema *apiextensions.JSONSchemaProps) *apiextensions.CustomResourceDefinition {
	return &apiextensions.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "things.example.com", ResourceVersion: "1"},
		Spec: apiextensions.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensions.NamespaceScoped,
			Names:                 apiextensions.CustomResourceDefinitionNames{Plural: "things", Singular: "thing", Kind: "Thing", ListKind: "ThingList"},
			Conversion:            &apiextensions.CustomResourceConversion{Strategy: apiextensions.NoneConverter},
			PreserveUnknownFields: new(bool),
			Validation:            &apiextensions.CustomResourceValidation{OpenAPIV3Schema: schema},
			Versions:              []apiextensions.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true}},
		},
		Status: apiextensions.CustomResourceDefinitionStatus{StoredVersions: []string{"v1"}},
	}
}

func costs(given *row, at *schema.Structural, path string, isRoot bool) {
	base := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	if declType := model.SchemaDeclType(at, isRoot || at.XEmbeddedResource); declType != nil {
		results, err := cel.Compile(at, declType, celconfig.PerCallLimit, base, cel.NewExpressionsEnvLoader())
		fixture.Must(err)
		for i, result := range results {
			if result.Error == nil {
				given.Costs = append(given.Costs, ruleCost{
					fmt.Sprintf("%s[%d]", path, i), result.MaxCost, result.MaxCardinality, result.MessageExpressionMaxCost, result.UsesOldSelf,
				})
			}
		}
	}
	if at.Items != nil {
		costs(given, at.Items, path+".items", false)
	}
	if at.AdditionalProperties != nil && at.AdditionalProperties.Structural != nil {
		costs(given, at.AdditionalProperties.Structural, path+".additionalProperties", false)
	}
	var names []string
	for name := range at.Properties {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		property := at.Properties[name]
		costs(given, &property, path+".properties["+name+"]", false)
	}
}

type recorder struct{ texts []string }

func (r *recorder) AddWarning(_, text string) {
	r.texts = append(r.texts, text)
}

func decode(text json.RawMessage) any {
	var value any
	if text == nil {
		return nil
	}
	fixture.Must(utiljson.Unmarshal(text, &value))
	return value
}

func validate(given *row, structural *schema.Structural) {
	object, old := decode(given.Object), decode(given.OldObject)
	var options []cel.Option
	if old != nil {
		options = append(options, cel.WithRatcheting(common.NewCorrelatedObject(object, old, &model.Structural{Structural: structural})))
	}
	budget := given.Budget
	if budget == 0 {
		budget = celconfig.RuntimeCELCostBudget
	}
	warnings := &recorder{}
	ctx := warning.WithWarningRecorder(context.Background(), warnings)
	errs, left := cel.NewValidator(structural, true, celconfig.PerCallLimit).Validate(ctx, nil, structural, object, old, budget, options...)
	given.Errors = texts(errs)
	sort.Strings(warnings.texts)
	given.Warnings = warnings.texts
	if left >= 0 {
		left = budget - left
	}
	given.Spent = &left
	for _, text := range given.Errors {
		if strings.Contains(text, "rule compile error") {
			log.Printf("%s: %s", given.What, text)
		}
	}
}
