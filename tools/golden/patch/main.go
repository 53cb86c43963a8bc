// Records what upstream's libraries make of patches. Reads rows from standard input and replaces `want` and `error`. `kind` is json,
// merge, or the kind of object that a strategic merge patch is for. An error is recorded without its text.
package main

import (
	"encoding/json"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	kjson "sigs.k8s.io/json"

	"coxswain/tools/golden/internal/fixture"
)

type row struct {
	Kind  string          `json:"kind"`
	Doc   json.RawMessage `json:"doc"`
	Patch json.RawMessage `json:"patch"`
	Want  json.RawMessage `json:"want,omitempty"`
	Error bool            `json:"error,omitempty"`
}

var kinds = map[string]any{
	"ConfigMap":      &corev1.ConfigMap{},
	"Deployment":     &appsv1.Deployment{},
	"Node":           &corev1.Node{},
	"Pod":            &corev1.Pod{},
	"Service":        &corev1.Service{},
	"ServiceAccount": &corev1.ServiceAccount{},
}

func main() {
	for given := range fixture.Rows[row]() {
		want, err := apply(given)
		given.Want, given.Error = want, err != nil
		fixture.Write(given)
	}
}

func apply(given row) ([]byte, error) {
	switch given.Kind {
	case "json":
		patch, err := jsonpatch.DecodePatch(given.Patch)
		if err != nil {
			return nil, err
		}
		return patch.Apply(given.Doc)
	case "merge":
		return jsonpatch.MergePatch(given.Doc, given.Patch)
	}
	var doc, patch map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(given.Doc, &doc); err != nil {
		return nil, err
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(given.Patch, &patch); err != nil {
		return nil, err
	}
	merged, err := strategicpatch.StrategicMergeMapPatch(doc, patch, kinds[given.Kind])
	if err != nil {
		return nil, err
	}
	return json.Marshal(merged)
}
