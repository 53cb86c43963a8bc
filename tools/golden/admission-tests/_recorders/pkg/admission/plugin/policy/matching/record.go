package matching

import (
	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/recording"
	"k8s.io/apiserver/pkg/admission/recording/requests"
)

type matchCall struct {
	Policy      v1.MatchResources     `json:"policy"`
	Request     requests.Request      `json:"request"`
	Namespace   map[string]string     `json:"namespaceLabels"`
	Equivalents []requests.Equivalent `json:"equivalents"`
	Match       *requests.Equivalent  `json:"match"`
	Error       string                `json:"error,omitempty"`
}

// Matches is recorded.
func (m *Matcher) Matches(
	attributes admission.Attributes, o admission.ObjectInterfaces, criteria MatchCriteria,
) (bool, schema.GroupVersionResource, schema.GroupVersionKind, error) {
	matches, resource, kind, err := m.MatchesUnrecorded(attributes, o, criteria)
	call := matchCall{
		Policy: criteria.GetMatchResources(), Request: requests.Of(attributes),
		Equivalents: requests.Equivalents(attributes, o), Error: recording.Message(err),
	}
	if lister := m.namespaceMatcher.NamespaceLister; lister != nil {
		if stored, err := lister.Get(attributes.GetNamespace()); err == nil {
			call.Namespace = stored.Labels
		}
	}
	if matches {
		call.Match = &requests.Equivalent{Resource: requests.ResourceOf(resource), Kind: requests.KindOf(kind)}
	}
	recording.Write(call)
	return matches, resource, kind, err
}
