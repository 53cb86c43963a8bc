package generic

import (
	"context"

	v1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/webhook"
	"k8s.io/apiserver/pkg/admission/recording"
	"k8s.io/apiserver/pkg/admission/recording/requests"
)

type hookCall struct {
	Webhook     criteria              `json:"webhook"`
	Request     requests.Request      `json:"request"`
	Equivalents []requests.Equivalent `json:"equivalents"`
	Match       *requests.Equivalent  `json:"match"`
	Error       string                `json:"error,omitempty"`
}

type criteria struct {
	Rules             []v1.RuleWithOperations `json:"rules"`
	MatchPolicy       *v1.MatchPolicyType     `json:"matchPolicy"`
	NamespaceSelector *metav1.LabelSelector   `json:"namespaceSelector"`
	ObjectSelector    *metav1.LabelSelector   `json:"objectSelector"`
}

// ShouldCallHook is recorded, except for webhooks with match conditions.
func (a *Webhook) ShouldCallHook(
	ctx context.Context, h webhook.WebhookAccessor, attributes admission.Attributes, o admission.ObjectInterfaces, v VersionedAttributeAccessor,
) (*WebhookInvocation, *apierrors.StatusError) {
	invocation, err := a.ShouldCallHookUnrecorded(ctx, h, attributes, o, v)
	if len(h.GetMatchConditions()) > 0 {
		return invocation, err
	}
	selected := criteria{h.GetRules(), h.GetMatchPolicy(), h.GetNamespaceSelector(), h.GetObjectSelector()}
	call := hookCall{Webhook: selected, Request: requests.Of(attributes), Equivalents: requests.Equivalents(attributes, o)}
	if invocation != nil {
		call.Match = &requests.Equivalent{
			Resource: requests.ResourceOf(invocation.Resource), Kind: requests.KindOf(invocation.Kind),
		}
	}
	if err != nil {
		call.Error = err.Error()
	}
	recording.Write(call)
	return invocation, err
}
