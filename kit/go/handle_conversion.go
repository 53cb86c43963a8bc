package coxswaintest

import (
	"encoding/json"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ConversionFunction converts a custom resource, which it may change, to an apiVersion such as example.com/v2, which the kit
// sets. The message of an error is that of the client whose request needs the conversion.
type ConversionFunction func(object *unstructured.Unstructured, apiVersion string) (*unstructured.Unstructured, error)

// HandleConversion makes a function the conversion of a CustomResourceDefinition, such as widgets.example.com, until the test
// is complete. The definition is installed, and has the function instead of its own conversion.
func (s *Server) HandleConversion(t testing.TB, definition string, conversion ConversionFunction) {
	t.Helper()
	spec := map[string]any{"conversion": map[string]any{"definition": definition}}
	s.handle(t, spec, func(text []byte) (any, error) { return conversionAnswer(text, conversion) })
}

// conversionReview is the ConversionReview of apiextensions.k8s.io/v1.
type conversionReview struct {
	metav1.TypeMeta `json:",inline"`
	Request         *conversionRequest  `json:"request,omitempty"`
	Response        *conversionResponse `json:"response,omitempty"`
}

type conversionRequest struct {
	UID               string                       `json:"uid"`
	DesiredAPIVersion string                       `json:"desiredAPIVersion"`
	Objects           []*unstructured.Unstructured `json:"objects"`
}

type conversionResponse struct {
	UID              string                       `json:"uid"`
	ConvertedObjects []*unstructured.Unstructured `json:"convertedObjects"`
	Result           metav1.Status                `json:"result"`
}

func conversionAnswer(text []byte, conversion ConversionFunction) (any, error) {
	var exchange conversionReview
	if err := json.Unmarshal(text, &exchange); err != nil || exchange.Request == nil {
		return nil, errors.New("the body is not a ConversionReview")
	}
	request := exchange.Request
	response := &conversionResponse{UID: request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for _, object := range request.Objects {
		converted, err := conversion(object, request.DesiredAPIVersion)
		if err != nil {
			response.ConvertedObjects = nil
			response.Result = metav1.Status{Status: metav1.StatusFailure, Message: err.Error()}
			break
		}
		converted.SetAPIVersion(request.DesiredAPIVersion)
		response.ConvertedObjects = append(response.ConvertedObjects, converted)
	}
	exchange.Request, exchange.Response = nil, response
	return exchange, nil
}
