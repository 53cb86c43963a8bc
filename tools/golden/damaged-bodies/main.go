// Says what upstream's decoders make of bodies: reads lines of JSON {"format", "apiVersion", "kind", "body"}, the body in base64, and writes
// each with "error", or with "json" and the strict "problems".
//
//	node bodies.ts | go run . | gzip -9n > ../../src/registry/testdata/damaged.jsonl.gz
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"

	admissionv1 "k8s.io/api/admission/v1"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
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
	for _, add := range []func(*runtime.Scheme) error{
		admissionv1.AddToScheme, apidiscoveryv2.AddToScheme, apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme, metav1.AddMetaToScheme,
	} {
		must(add(scheme.Scheme))
	}
	serializers := map[string]runtime.Serializer{
		"json":     jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, jsonserializer.SerializerOptions{Strict: true}),
		"yaml":     jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, jsonserializer.SerializerOptions{Yaml: true, Strict: true}),
		"protobuf": protobuf.NewSerializer(scheme.Scheme, scheme.Scheme),
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	decoder := json.NewDecoder(in)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for decoder.More() {
		var q question
		must(decoder.Decode(&q))
		if given := judge(serializers[q.Format], q); given != nil {
			given.question = q
			must(encoder.Encode(given))
		}
	}
}

// Nil for bodies that say they are of another kind: what becomes of them is for the server to say.
func judge(serializer runtime.Serializer, q question) *answer {
	kind := schema.FromAPIVersionAndKind(q.APIVersion, q.Kind)
	into, err := scheme.Scheme.New(kind)
	must(err)
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
	if jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, jsonserializer.SerializerOptions{}).Encode(object, &text) != nil {
		return nil // It was read, and cannot be written as JSON.
	}
	given.JSON = string(bytes.TrimSpace(text.Bytes()))
	return &given
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
