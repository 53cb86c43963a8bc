// Records what upstream does with the CEL expressions of admission policies. Reads rows from standard input and replaces their
// answers: for each variable and expression its type or its compile error; the values or errors of the expressions, one after the
// other, and the cost budget that is `left` after each; `request` and `namespaceObject` as expressions see them.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"

	"coxswain/tools/golden/internal/fixture"
)

type row struct {
	What            string          `json:"what,omitempty"`
	Patch           bool            `json:"patch,omitempty"`
	Variables       []expression    `json:"variables,omitempty"`
	Expressions     []expression    `json:"expressions"`
	Object          json.RawMessage `json:"object,omitempty"`
	OldObject       json.RawMessage `json:"oldObject,omitempty"`
	Params          json.RawMessage `json:"params,omitempty"`
	Request         json.RawMessage `json:"request,omitempty"`
	NamespaceObject json.RawMessage `json:"namespaceObject,omitempty"`
	Budget          int64           `json:"budget,omitempty"`
	Fatal           string          `json:"fatal,omitempty"`
}

type expression struct {
	Name    string   `json:"name,omitempty"`
	Text    string   `json:"text"`
	Returns []string `json:"returns,omitempty"`
	Type    string   `json:"type,omitempty"`
	Compile string   `json:"compile,omitempty"`
	Value   string   `json:"value,omitempty"`
	Error   string   `json:"error,omitempty"`
	Left    int64    `json:"left,omitempty"`
}

func (e expression) GetName() string       { return e.Name }
func (e expression) GetExpression() string { return e.Text }

func (e expression) ReturnTypes() []*cel.Type {
	known := map[string]*cel.Type{
		"bool": cel.BoolType, "string": cel.StringType, "null": cel.NullType, "Object": cel.ObjectType("Object"),
		"JSONPatch": cel.ListType(cel.ObjectType("JSONPatch")),
	}
	var types []*cel.Type
	for _, name := range e.Returns {
		types = append(types, known[name])
	}
	if types == nil {
		return []*cel.Type{cel.AnyType}
	}
	return types
}

func main() {
	for given := range fixture.Rows[row]() {
		answer(&given)
		fixture.Write(given)
	}
}

func object(text json.RawMessage) runtime.Object {
	if text == nil {
		return nil
	}
	var value map[string]any
	fixture.Must(utiljson.Unmarshal(text, &value))
	return &unstructured.Unstructured{Object: value}
}

// seen returns an object as expressions see it.
func seen(value any) json.RawMessage {
	plain, err := runtime.DefaultUnstructuredConverter.ToUnstructured(value)
	fixture.Must(err)
	text, err := json.Marshal(plain)
	fixture.Must(err)
	return text
}

func answer(given *row) {
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	fixture.Must(err)
	options := plugincel.OptionalVariableDeclarations{HasParams: given.Params != nil, HasPatchTypes: given.Patch}
	for i, variable := range given.Variables {
		result := compiler.CompileAndStoreVariable(variable, options, environment.StoredExpressions)
		given.Variables[i].Type, given.Variables[i].Compile = outcome(result)
	}
	var request admissionv1.AdmissionRequest
	if given.Request != nil {
		fixture.Must(json.Unmarshal(given.Request, &request))
		given.Request = seen(&request)
	}
	var namespace *corev1.Namespace
	if given.NamespaceObject != nil {
		namespace = &corev1.Namespace{}
		fixture.Must(json.Unmarshal(given.NamespaceObject, namespace))
		given.NamespaceObject = seen(namespace)
	}
	attributes := &admission.VersionedAttributes{VersionedObject: object(given.Object), VersionedOldObject: object(given.OldObject)}
	budget := given.Budget
	if budget == 0 {
		budget = celconfig.RuntimeCELCostBudget
	}
	bindings := plugincel.OptionalVariableBindings{VersionedParams: object(given.Params)}
	given.Fatal = ""
	for i, one := range given.Expressions {
		answers := &given.Expressions[i]
		result := compiler.Compiler.CompileCELExpression(one, options, environment.StoredExpressions)
		answers.Type, answers.Compile = outcome(result)
		answers.Value, answers.Error, answers.Left = "", "", 0
		if given.Fatal != "" {
			continue
		}
		evaluator := compiler.CompileCondition([]plugincel.ExpressionAccessor{one}, options, environment.StoredExpressions)
		results, left, err := evaluator.ForInput(context.Background(), attributes, &request, bindings, namespace, budget)
		if err != nil {
			given.Fatal = err.Error()
			continue
		}
		answers.Left, budget = left, left
		if results[0].Error != nil {
			answers.Error = results[0].Error.Error()
		} else {
			answers.Value = text(results[0].EvalResult)
		}
	}
}

var pointer = regexp.MustCompile(`0x[0-9a-f]+`)

func text(value ref.Val) string {
	if object, ok := value.(*dynamic.ObjectVal); ok {
		text, err := json.Marshal(object.Value())
		if err != nil {
			return err.Error()
		}
		if err := object.CheckTypeNamesMatchFieldPathNames(); err != nil {
			return string(text) + " " + err.Error()
		}
		return string(text)
	}
	return pointer.ReplaceAllString(fmt.Sprintf("%v", value.Value()), "")
}

func outcome(result plugincel.CompilationResult) (string, string) {
	if result.Error != nil {
		return "", result.Error.Error()
	}
	return result.OutputType.String(), ""
}
