// Records how upstream encodes and decodes CBOR. Reads rows from standard input and replaces their answers:
//
//	{"op": "encode", "apiVersion", "kind", "json"}              an object of a built-in kind: adds "cbor"
//	{"op": "encodeAny", "json"}                                 an object of another kind: adds "cbor"
//	{"op": "event", "type", "apiVersion", "kind", "json"}       a watch event: adds "cbor"
//	{"op": "decode", "strict", "apiVersion", "kind", "cbor"}    adds "json" or "error", and "problems" that do not prevent decoding
//	{"op": "decodeAny", "cbor"}                                 adds "json" or "error"
package main

import (
	"bytes"
	"encoding/json"
	"log"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"

	"coxswain/tools/golden/internal/fixture"
	"coxswain/tools/golden/internal/kinds"
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
	// The kind of the object, if it is not the requested kind.
	Found string `json:"found,omitempty"`
	// The decoded object cannot be encoded as JSON.
	Unwritable bool `json:"unwritable,omitempty"`
}

func main() {
	for given := range fixture.Rows[row]() {
		fixture.Write(answer(given))
	}
}

func answer(given row) row {
	switch given.Op {
	case "encode":
		given.CBOR = encode(object(given))
	case "encodeAny":
		var content unstructured.Unstructured
		fixture.Must(content.UnmarshalJSON(given.JSON))
		given.CBOR = encode(&content)
	case "event":
		event := metav1.WatchEvent{Type: given.Type, Object: runtime.RawExtension{Raw: encode(object(given))}}
		var out bytes.Buffer
		fixture.Must(cbor.NewSerializer(kinds.Scheme, kinds.Scheme, cbor.Transcode(false)).Encode(&event, &out))
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

// object decodes the JSON of a row.
func object(given row) runtime.Object {
	serializer := jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, kinds.Scheme, kinds.Scheme, jsonserializer.SerializerOptions{})
	kind := schema.FromAPIVersionAndKind(given.APIVersion, given.Kind)
	read, _, err := serializer.Decode(given.JSON, &kind, nil)
	fixture.Must(err)
	return read
}

func encode(object runtime.Object) []byte {
	var out bytes.Buffer
	fixture.Must(cbor.NewSerializer(kinds.Scheme, kinds.Scheme).Encode(object, &out))
	return out.Bytes()
}

func decode(given row) row {
	given.JSON, given.Problems, given.Error, given.Found = nil, "", "", ""
	serializer := cbor.NewSerializer(kinds.Scheme, kinds.Scheme, cbor.Strict(given.Strict))
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
		given.Unwritable = true // The JSON in a FieldsV1 is not checked when it is decoded.
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
	fixture.Must(err)
	given.JSON = text
	return given
}
