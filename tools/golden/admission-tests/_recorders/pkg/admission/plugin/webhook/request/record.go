package request

import (
	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission/recording"
)

type responseCall struct {
	// Version is that of the Go type of the review.
	Version  string             `json:"version"`
	UID      types.UID          `json:"uid"`
	Mutating bool               `json:"mutating"`
	Review   runtime.Object     `json:"review"`
	Accepted *AdmissionResponse `json:"accepted,omitempty"`
	Error    string             `json:"error,omitempty"`
}

// VerifyAdmissionResponse is recorded.
func VerifyAdmissionResponse(uid types.UID, mutating bool, review runtime.Object) (*AdmissionResponse, error) {
	accepted, err := VerifyAdmissionResponseUnrecorded(uid, mutating, review)
	recording.Write(responseCall{versionOf(review), uid, mutating, review, accepted, recording.Message(err)})
	return accepted, err
}

func versionOf(review runtime.Object) string {
	switch review.(type) {
	case *admissionv1.AdmissionReview:
		return "v1"
	case *admissionv1beta1.AdmissionReview:
		return "v1beta1"
	}
	return ""
}
