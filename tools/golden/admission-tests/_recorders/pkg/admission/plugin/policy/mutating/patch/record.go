package patch

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/recording"
	"k8s.io/apiserver/pkg/admission/recording/requests"
)

type mutationCall struct {
	Mutation string `json:"mutation"`
	cel.Evaluation
	Patched map[string]any `json:"patched,omitempty"`
	Error   string         `json:"error,omitempty"`
}

func (e *applyConfigPatcher) Patch(ctx context.Context, r Request, budget int64) (runtime.Object, error) {
	return record("ApplyConfiguration", e.expressionEvaluator, &r, func() (runtime.Object, error) { return e.PatchUnrecorded(ctx, r, budget) })
}

func (e *jsonPatcher) Patch(ctx context.Context, r Request, budget int64) (runtime.Object, error) {
	return record("JSONPatch", e.PatchEvaluator, &r, func() (runtime.Object, error) { return e.PatchUnrecorded(ctx, r, budget) })
}

func record(mutation string, evaluator cel.MutatingEvaluator, r *Request, patch func() (runtime.Object, error)) (runtime.Object, error) {
	options := &r.OptionalVariables
	call := mutationCall{
		Mutation:   mutation,
		Evaluation: cel.DescribeMutation(evaluator, r.VersionedAttributes, options.VersionedParams, r.Namespace),
	}
	recorder := &cel.Recorder{Authorizer: options.Authorizer}
	if options.Authorizer != nil {
		options.Authorizer = recorder
	}
	patched, err := patch()
	call.Checks, call.Patched, call.Error = recorder.Checks, requests.Object(patched), recording.Message(err)
	recording.Write(call)
	return patched, err
}
