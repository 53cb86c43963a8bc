package main

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
)

// The crew of a Boat is a number in v1 and a list of names in v2, the storage version.
var (
	v1 = schema.GroupVersion{Group: "boats.example.com", Version: "v1"}
	v2 = schema.GroupVersion{Group: "boats.example.com", Version: "v2"}
)

type BoatSpecV1 struct {
	Crew  int32  `json:"crew"`
	Color string `json:"color,omitempty"`
}

type BoatV1 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              BoatSpecV1 `json:"spec"`
	Status            BoatStatus `json:"status,omitempty"`
}

type BoatListV1 struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []BoatV1 `json:"items"`
}

type BoatSpec struct {
	Crew  []string `json:"crew,omitempty"`
	Berth int32    `json:"berth,omitempty"`
	Color string   `json:"color,omitempty"`
}

type BoatStatus struct {
	Aboard     int32              `json:"aboard,omitempty"`
	Selector   string             `json:"selector,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

type Boat struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              BoatSpec   `json:"spec"`
	Status            BoatStatus `json:"status,omitempty"`
}

type BoatList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Boat `json:"items"`
}

func (*Boat) Hub() {}

func (boat *BoatV1) ConvertTo(hub conversion.Hub) error {
	to := hub.(*Boat)
	if boat.Spec.Color == "plaid" {
		return fmt.Errorf("%s cannot be painted plaid", boat.Name)
	}
	to.ObjectMeta, to.Status = boat.ObjectMeta, boat.Status
	to.Spec = BoatSpec{Color: boat.Spec.Color}
	if names := boat.Annotations["crew"]; names != "" {
		if err := json.Unmarshal([]byte(names), &to.Spec.Crew); err != nil {
			return err
		}
		delete(to.Annotations, "crew")
	}
	for len(to.Spec.Crew) < int(boat.Spec.Crew) {
		to.Spec.Crew = append(to.Spec.Crew, fmt.Sprintf("sailor-%d", len(to.Spec.Crew)))
	}
	to.Spec.Crew = to.Spec.Crew[:boat.Spec.Crew]
	return nil
}

func (boat *BoatV1) ConvertFrom(hub conversion.Hub) error {
	from := hub.(*Boat)
	boat.ObjectMeta, boat.Status = from.ObjectMeta, from.Status
	boat.Spec = BoatSpecV1{Crew: int32(len(from.Spec.Crew)), Color: from.Spec.Color}
	names, err := json.Marshal(from.Spec.Crew)
	if err != nil {
		return err
	}
	if boat.Annotations == nil {
		boat.Annotations = map[string]string{}
	}
	boat.Annotations["crew"] = string(names)
	return nil
}

// Deep copies by JSON, instead of generated functions.
func copied[T any](from *T) *T {
	to := new(T)
	text, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		panic(err)
	}
	return to
}

func (boat *Boat) DeepCopyObject() runtime.Object       { return copied(boat) }
func (list *BoatList) DeepCopyObject() runtime.Object   { return copied(list) }
func (boat *BoatV1) DeepCopyObject() runtime.Object     { return copied(boat) }
func (list *BoatListV1) DeepCopyObject() runtime.Object { return copied(list) }

func addBoats(scheme *runtime.Scheme) {
	scheme.AddKnownTypeWithName(v1.WithKind("Boat"), &BoatV1{})
	scheme.AddKnownTypeWithName(v1.WithKind("BoatList"), &BoatListV1{})
	scheme.AddKnownTypeWithName(v2.WithKind("Boat"), &Boat{})
	scheme.AddKnownTypeWithName(v2.WithKind("BoatList"), &BoatList{})
	metav1.AddToGroupVersion(scheme, v1)
	metav1.AddToGroupVersion(scheme, v2)
}

var background = context.Background()
