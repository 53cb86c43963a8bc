// Records what upstream's decoders do with damaged request bodies. Reads rows {"format", "apiVersion", "kind", "body"} from standard
// input, the body in base64, and writes each with "error", or with "json" and the "problems" of strict decoding.
package main

import (
	"bytes"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"coxswain/tools/golden/internal/fixture"
	"coxswain/tools/golden/internal/kinds"
)

type question struct {
	Format     string `json:"format"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Body       []byte `json:"body"`
}

type answer struct {
	question
	Error    string   `json:"error,omitempty"`
	Problems []string `json:"problems,omitempty"`
	JSON     string   `json:"json,omitempty"`
}

func main() {
	serializers := map[string]runtime.Serializer{
		"json":     jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, kinds.Scheme, kinds.Scheme, jsonserializer.SerializerOptions{Strict: true}),
		"yaml":     jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, kinds.Scheme, kinds.Scheme, jsonserializer.SerializerOptions{Yaml: true, Strict: true}),
		"protobuf": protobuf.NewSerializer(kinds.Scheme, kinds.Scheme),
	}
	for q := range fixture.Rows[question]() {
		if given := judge(serializers[q.Format], q); given != nil {
			given.question = q
			fixture.Write(given)
		}
	}
}

// judge returns nil for a body of another kind, because the server decides what happens to it.
func judge(serializer runtime.Serializer, q question) *answer {
	kind := schema.FromAPIVersionAndKind(q.APIVersion, q.Kind)
	into, err := kinds.Scheme.New(kind)
	fixture.Must(err)
	object, found, err := serializer.Decode(q.Body, &kind, into)
	if found != nil && *found != kind || runtime.IsNotRegisteredError(err) || runtime.IsMissingKind(err) || runtime.IsMissingVersion(err) {
		return nil
	}
	var given answer
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		for _, problem := range strict.Errors() {
			given.Problems = append(given.Problems, problem.Error())
		}
	} else if err != nil {
		return &answer{Error: err.Error()}
	}
	object.GetObjectKind().SetGroupVersionKind(kind)
	var text bytes.Buffer
	if jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, kinds.Scheme, kinds.Scheme, jsonserializer.SerializerOptions{}).Encode(object, &text) != nil {
		return nil // It decodes, but cannot be encoded as JSON.
	}
	given.JSON = string(bytes.TrimSpace(text.Bytes()))
	return &given
}
