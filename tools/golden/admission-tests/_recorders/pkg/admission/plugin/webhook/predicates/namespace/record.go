package namespace

import (
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/recording"
	"k8s.io/apiserver/pkg/admission/recording/requests"
)

type labelsCall struct {
	Request requests.Request  `json:"request"`
	Stored  map[string]string `json:"stored"`
	Labels  map[string]string `json:"labels"`
	Error   string            `json:"error,omitempty"`
}

// GetNamespaceLabels is recorded.
func (m *Matcher) GetNamespaceLabels(attributes admission.Attributes) (map[string]string, error) {
	labels, err := m.GetNamespaceLabelsUnrecorded(attributes)
	call := labelsCall{Request: requests.Of(attributes), Labels: labels, Error: recording.Message(err)}
	if stored, err := m.NamespaceLister.Get(attributes.GetNamespace()); err == nil {
		call.Stored = stored.Labels
	}
	recording.Write(call)
	return labels, err
}
