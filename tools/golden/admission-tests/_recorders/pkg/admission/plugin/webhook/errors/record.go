package errors

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission/recording"
)

type denialCall struct {
	Webhook string         `json:"webhook"`
	Result  *metav1.Status `json:"result"`
	Status  metav1.Status  `json:"status"`
}

// ToStatusErr is recorded.
func ToStatusErr(webhookName string, result *metav1.Status) *apierrors.StatusError {
	received := result.DeepCopy()
	err := ToStatusErrUnrecorded(webhookName, result)
	recording.Write(denialCall{webhookName, received, err.ErrStatus})
	return err
}
