// Answers the questions on standard input, one JSON object a line, as upstream's code does, and prints them with their answers:
//
//	{"op": "encode", "apiVersion", "kind", "json"}              an object of a built-in kind: adds "cbor"
//	{"op": "encodeAny", "json"}                                 an object of no known kind: adds "cbor"
//	{"op": "event", "type", "apiVersion", "kind", "json"}       an event of a watch: adds "cbor"
//	{"op": "decode", "strict", "apiVersion", "kind", "cbor"}    adds "json" or "error", and "problems" that do not prevent reading
//	{"op": "decodeAny", "cbor"}                                 adds "json" or "error"
//
// What is given of the answers is made anew.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"log"
	"os"

	admissionv1 "k8s.io/api/admission/v1"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

type row struct {
	Op         string          `json:"op"`
	Strict     bool            `json:"strict,omitempty"`
	Type       string          `json:"type,omitempty"`
	APIVersion string          `json:"apiVersion,omitempty"`
	Kind       string          `json:"kind,omitempty"`
	JSON       json.RawMessage `json:"json,omitempty"`
	CBOR       []byte          `json:"cbor,omitempty"`
	Problems   string          `json:"problems,omitempty"`
	Error      string          `json:"error,omitempty"`
	// Of an object that says it is of another kind than was asked for.
	Found string `json:"found,omitempty"`
	// What was read cannot be written.
	Unwritable bool `json:"unwritable,omitempty"`
}

func main() {
	for _, add := range []func(*runtime.Scheme) error{
		admissionv1.AddToScheme, apidiscoveryv2.AddToScheme, apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme, metav1.AddMetaToScheme,
	} {
		must(add(scheme.Scheme))
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	buffered := bufio.NewWriter(os.Stdout)
	defer buffered.Flush()
	out := json.NewEncoder(buffered)
	out.SetEscapeHTML(false)
	for lines.Scan() {
		var given row
		must(json.Unmarshal(lines.Bytes(), &given))
		must(out.Encode(answer(given)))
	}
	must(lines.Err())
}

func answer(given row) row {
	switch given.Op {
	case "encode":
		given.CBOR = encode(object(given))
	case "encodeAny":
		var content unstructured.Unstructured
		must(content.UnmarshalJSON(given.JSON))
		given.CBOR = encode(&content)
	case "event":
		event := metav1.WatchEvent{Type: given.Type, Object: runtime.RawExtension{Raw: encode(object(given))}}
		var out bytes.Buffer
		must(cbor.NewSerializer(scheme.Scheme, scheme.Scheme, cbor.Transcode(false)).Encode(&event, &out))
		given.CBOR = out.Bytes()
	case "decode":
		return decode(given)
	case "decodeAny":
		return decodeAny(given)
	default:
		log.Fatalf("no such operation: %q", given.Op)
	}
	return given
}

// The object of a row, read from its JSON.
func object(given row) runtime.Object {
	serializer := jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, jsonserializer.SerializerOptions{})
	kind := schema.FromAPIVersionAndKind(given.APIVersion, given.Kind)
	read, _, err := serializer.Decode(given.JSON, &kind, nil)
	must(err)
	return read
}

func encode(object runtime.Object) []byte {
	var out bytes.Buffer
	must(cbor.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(object, &out))
	return out.Bytes()
}

func decode(given row) row {
	given.JSON, given.Problems, given.Error, given.Found = nil, "", "", ""
	serializer := cbor.NewSerializer(scheme.Scheme, scheme.Scheme, cbor.Strict(given.Strict))
	kind := schema.FromAPIVersionAndKind(given.APIVersion, given.Kind)
	read, actual, err := serializer.Decode(given.CBOR, &kind, nil)
	if actual != nil && *actual != kind {
		given.Found = actual.String()
		return given
	}
	if err != nil && !runtime.IsStrictDecodingError(err) {
		given.Error = err.Error()
		return given
	}
	if err != nil {
		given.Problems = err.Error()
	}
	text, err := json.Marshal(read)
	if err != nil {
		given.Unwritable = true // FieldsV1 of a kind that it does not look at.
		return given
	}
	given.JSON = text
	return given
}

func decodeAny(given row) row {
	given.JSON, given.Error = nil, ""
	var read map[string]interface{}
	if err := direct.Unmarshal(given.CBOR, &read); err != nil {
		given.Error = err.Error()
		return given
	}
	text, err := json.Marshal(read)
	must(err)
	given.JSON = text
	return given
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
