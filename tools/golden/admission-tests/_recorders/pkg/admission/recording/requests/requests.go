// Package requests describes requests and objects as facts.
package requests

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
)

// Kind names a kind.
type Kind struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

// Resource names a resource.
type Resource struct {
	Group    string `json:"group"`
	Version  string `json:"version"`
	Resource string `json:"resource"`
}

// Equivalent is a resource as which a request can match.
type Equivalent struct {
	Resource Resource `json:"resource"`
	Kind     Kind     `json:"kind"`
}

// Request has the attributes of a request.
type Request struct {
	Operation   string         `json:"operation"`
	Kind        Kind           `json:"kind"`
	Resource    Resource       `json:"resource"`
	Subresource string         `json:"subresource,omitempty"`
	Namespace   string         `json:"namespace,omitempty"`
	Name        string         `json:"name,omitempty"`
	DryRun      bool           `json:"dryRun,omitempty"`
	Object      map[string]any `json:"object,omitempty"`
	OldObject   map[string]any `json:"oldObject,omitempty"`
}

// Of describes a request.
func Of(attributes admission.Attributes) Request {
	return Request{
		Operation:   string(attributes.GetOperation()),
		Kind:        KindOf(attributes.GetKind()),
		Resource:    ResourceOf(attributes.GetResource()),
		Subresource: attributes.GetSubresource(),
		Namespace:   attributes.GetNamespace(),
		Name:        attributes.GetName(),
		DryRun:      attributes.IsDryRun(),
		Object:      Object(attributes.GetObject()),
		OldObject:   Object(attributes.GetOldObject()),
	}
}

// KindOf describes a kind.
func KindOf(kind schema.GroupVersionKind) Kind { return Kind(kind) }

// ResourceOf describes a resource.
func ResourceOf(resource schema.GroupVersionResource) Resource { return Resource(resource) }

// Equivalents returns the resources as which a request can match, with those that the request names.
func Equivalents(attributes admission.Attributes, interfaces admission.ObjectInterfaces) []Equivalent {
	mapper := interfaces.GetEquivalentResourceMapper()
	var found []Equivalent
	for _, resource := range mapper.EquivalentResourcesFor(attributes.GetResource(), attributes.GetSubresource()) {
		kind := mapper.KindFor(resource, attributes.GetSubresource())
		found = append(found, Equivalent{ResourceOf(resource), KindOf(kind)})
	}
	return found
}

// Object returns an object as expressions see it.
func Object(object runtime.Object) map[string]any {
	if object == nil || reflect.ValueOf(object).IsNil() {
		return nil
	}
	value, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		panic(err)
	}
	return value
}
