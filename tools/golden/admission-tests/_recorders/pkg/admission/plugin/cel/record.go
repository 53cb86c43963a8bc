package cel

import (
	"context"
	"fmt"
	"slices"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/recording"
	"k8s.io/apiserver/pkg/admission/recording/requests"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
)

// Expression is what a compiler received.
type Expression struct {
	Name       string   `json:"name,omitempty"`
	Text       string   `json:"text"`
	Returns    []string `json:"returns"`
	Params     bool     `json:"params,omitempty"`
	Authorizer bool     `json:"authorizer,omitempty"`
	Patch      bool     `json:"patch,omitempty"`
	Stored     bool     `json:"stored,omitempty"`
	// Version is the compatibility version of the environment; empty for the default.
	Version     string `json:"version,omitempty"`
	NoSelectors bool   `json:"noSelectors,omitempty"`
	Error       string `json:"error,omitempty"`
}

var (
	mutex    sync.Mutex
	compiled = map[ExpressionAccessor]Expression{}
	names    = map[*compositionState][]string{}
)

func (c compiler) CompileCELExpression(accessor ExpressionAccessor, options OptionalVariableDeclarations, envType environment.Type) CompilationResult {
	result := c.CompileCELExpressionUnrecorded(accessor, options, envType)
	expression := Expression{
		Text: accessor.GetExpression(), Params: options.HasParams, Authorizer: options.HasAuthorizer, Patch: options.HasPatchTypes,
		Stored: envType == environment.StoredExpressions, Version: recording.CompatibilityVersion,
		NoSelectors: !utilfeature.DefaultFeatureGate.Enabled(features.AuthorizeWithSelectors),
	}
	for _, returned := range accessor.ReturnTypes() {
		expression.Returns = append(expression.Returns, returned.String())
	}
	if named, ok := accessor.(NamedExpressionAccessor); ok {
		expression.Name = named.GetName()
	}
	if result.Error != nil {
		expression.Error = result.Error.Error()
	}
	mutex.Lock()
	defer mutex.Unlock()
	compiled[accessor] = expression
	if expression.Name == "" { // A variable may use others, which are recorded with the evaluation.
		recording.Write(map[string]any{"compiled": expression})
	}
	return result
}

// CompileAndStoreVariable remembers the order of variables.
func (c *CompositedCompiler) CompileAndStoreVariable(
	variable NamedExpressionAccessor, options OptionalVariableDeclarations, mode environment.Type,
) CompilationResult {
	mutex.Lock()
	names[c.state] = append(names[c.state], variable.GetName())
	mutex.Unlock()
	return c.CompileAndStoreVariableUnrecorded(variable, options, mode)
}

// Evaluation is the input of expressions.
type Evaluation struct {
	Variables   []Expression     `json:"variables,omitempty"`
	Expressions []Expression     `json:"expressions"`
	Request     requests.Request `json:"request"`
	MatchedAs   requests.Kind    `json:"matchedAs"`
	Params      map[string]any   `json:"parameters,omitempty"`
	Namespace   map[string]any   `json:"namespaceObject,omitempty"`
	Checks      []Check          `json:"checks,omitempty"`
	Budget      int64            `json:"budget,omitempty"`
}

type evaluationCall struct {
	Evaluation
	Results []result `json:"results,omitempty"`
	Left    int64    `json:"left,omitempty"`
	Error   string   `json:"error,omitempty"`
}

type result struct {
	Value any    `json:"value,omitempty"`
	Error string `json:"error,omitempty"`
}

// Check is a call of the authorizer with its answer.
type Check struct {
	Attributes authorizer.AttributesRecord `json:"attributes"`
	Decision   authorizer.Decision         `json:"decision"`
	Reason     string                      `json:"reason,omitempty"`
	Error      string                      `json:"error,omitempty"`
}

// Recorder is an authorizer that records its calls.
type Recorder struct {
	authorizer.Authorizer
	Checks []Check
}

// Authorize is recorded.
func (r *Recorder) Authorize(ctx context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
	decision, reason, err := r.Authorizer.Authorize(ctx, attributes)
	record := *attributes.(*authorizer.AttributesRecord)
	record.User = nil
	r.Checks = append(r.Checks, Check{record, decision, reason, recording.Message(err)})
	return decision, reason, err
}

// Describe returns the input of an evaluation of expressions with these variables.
func Describe(
	ctx context.Context, accessors []ExpressionAccessor, attributes *admission.VersionedAttributes, params runtime.Object, namespace *corev1.Namespace,
) Evaluation {
	mutex.Lock()
	defer mutex.Unlock()
	evaluation := Evaluation{
		Request: requests.Of(attributes.Attributes), MatchedAs: requests.KindOf(attributes.VersionedKind),
		Params: requests.Object(params), Namespace: requests.Object(CreateNamespaceObject(namespace)),
	}
	evaluation.Request.Object = requests.Object(attributes.VersionedObject)
	evaluation.Request.OldObject = requests.Object(attributes.VersionedOldObject)
	for _, accessor := range accessors {
		evaluation.Expressions = append(evaluation.Expressions, compiled[accessor])
	}
	if composition, ok := ctx.(*compositionContext); ok {
		for _, name := range slices.Compact(names[composition.state]) {
			evaluation.Variables = append(evaluation.Variables, compiled[composition.state.compiledVariables[name].ExpressionAccessor])
		}
	}
	return evaluation
}

// DescribeMutation returns the input of a mutation.
func DescribeMutation(
	evaluator MutatingEvaluator, attributes *admission.VersionedAttributes, params runtime.Object, namespace *corev1.Namespace,
) Evaluation {
	ctx := context.Background()
	if composited, ok := evaluator.(*CompositedEvaluator); ok {
		ctx, evaluator = composited.state.CreateContext(ctx), composited.MutatingEvaluator
	}
	accessor := evaluator.(*mutatingEvaluator).compilationResult.ExpressionAccessor
	return Describe(ctx, []ExpressionAccessor{accessor}, attributes, params, namespace)
}

func (c *condition) ForInput(
	ctx context.Context, attributes *admission.VersionedAttributes, request *admissionv1.AdmissionRequest, inputs OptionalVariableBindings,
	namespace *corev1.Namespace, budget int64,
) ([]EvaluationResult, int64, error) {
	var accessors []ExpressionAccessor
	for _, one := range c.compilationResults {
		accessors = append(accessors, one.ExpressionAccessor)
	}
	call := evaluationCall{Evaluation: Describe(ctx, accessors, attributes, inputs.VersionedParams, namespace)}
	recorder := &Recorder{Authorizer: inputs.Authorizer}
	if inputs.Authorizer != nil {
		inputs.Authorizer = recorder
	}
	results, left, err := c.ForInputUnrecorded(ctx, attributes, request, inputs, namespace, budget)
	call.Budget, call.Checks, call.Left, call.Error = budget, recorder.Checks, left, recording.Message(err)
	for _, one := range results {
		if one.Error != nil {
			call.Results = append(call.Results, result{Error: one.Error.Error()})
		} else if boolean, ok := one.EvalResult.Value().(bool); ok {
			call.Results = append(call.Results, result{Value: boolean})
		} else {
			call.Results = append(call.Results, result{Value: fmt.Sprint(one.EvalResult.Value())})
		}
	}
	recording.Write(call)
	return results, left, err
}
