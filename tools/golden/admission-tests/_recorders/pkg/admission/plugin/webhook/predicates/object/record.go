package object

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/recording"
	"k8s.io/apiserver/pkg/admission/recording/requests"
)

type selectorCall struct {
	ObjectSelector *metav1.LabelSelector `json:"objectSelector"`
	Request        requests.Request      `json:"request"`
	Matches        bool                  `json:"matches"`
}

// MatchObjectSelector is recorded.
func (m *Matcher) MatchObjectSelector(p ObjectSelectorProvider, attributes admission.Attributes) (bool, *apierrors.StatusError) {
	matches, err := m.MatchObjectSelectorUnrecorded(p, attributes)
	selector := p.(interface{ GetObjectSelector() *metav1.LabelSelector }).GetObjectSelector()
	recording.Write(selectorCall{selector, requests.Of(attributes), matches})
	return matches, err
}
