package validating

import (
	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission/recording"
	"k8s.io/apiserver/pkg/admission/recording/requests"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

type checkCall struct {
	Policy   v1.ValidatingAdmissionPolicySpec `json:"policy"`
	Kinds    []typedKind                      `json:"kinds"`
	Params   *typedKind                       `json:"params,omitempty"`
	Warnings []v1.ExpressionWarning           `json:"warnings"`
}

type typedKind struct {
	Kind   requests.Kind `json:"kind"`
	Schema *spec.Schema  `json:"schema"`
}

// Check is recorded.
func (c *TypeChecker) Check(policy *v1.ValidatingAdmissionPolicy) []v1.ExpressionWarning {
	call := checkCall{Policy: policy.Spec, Warnings: c.CheckUnrecorded(policy)}
	for _, kind := range c.typesToCheck(policy) {
		schema, _ := c.SchemaResolver.ResolveSchema(kind)
		call.Kinds = append(call.Kinds, typedKind{requests.KindOf(kind), schema})
	}
	if kind := c.paramsGVK(policy); !kind.Empty() {
		schema, _ := c.SchemaResolver.ResolveSchema(kind)
		call.Params = &typedKind{requests.KindOf(kind), schema}
	}
	recording.Write(call)
	return call.Warnings
}
