// Package kinds registers the built-in kinds that client-go's scheme lacks.
package kinds

import (
	admissionv1 "k8s.io/api/admission/v1"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"coxswain/tools/golden/internal/fixture"
)

// Scheme is client-go's scheme with the kinds of all API groups that a server serves by itself.
var Scheme = scheme.Scheme

func init() {
	for _, add := range []func(*runtime.Scheme) error{
		admissionv1.AddToScheme, apidiscoveryv2.AddToScheme, apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme, metav1.AddMetaToScheme,
	} {
		fixture.Must(add(Scheme))
	}
}
