// Records objects of every built-in kind as upstream encodes them: rows {"kind", "apiVersion", "json", "protobuf"}. There are two
// objects of each kind: one has every field set, the other none.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"sort"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"

	"coxswain/tools/golden/internal/fixture"
	"coxswain/tools/golden/internal/kinds"
)

type row struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	JSON       json.RawMessage `json:"json"`
	Protobuf   []byte          `json:"protobuf"`
}

func main() {
	for _, kind := range encodable() {
		for _, full := range []bool{false, true} {
			if full && strings.HasSuffix(kind.Kind, "List") && kind.Kind != "ConfigMapList" {
				continue // All lists have the same fields.
			}
			object, err := kinds.Scheme.New(kind)
			fixture.Must(err)
			if full {
				(&filler{}).fill(reflect.ValueOf(object).Elem(), 0)
			}
			object.GetObjectKind().SetGroupVersionKind(kind)
			fixture.Write(encode(object, kind))
		}
	}
}

// encodable returns the kinds that have a protobuf message and are still served, sorted; kinds registered in every group only once.
func encodable() []schema.GroupVersionKind {
	seen := map[reflect.Type]bool{}
	var found []schema.GroupVersionKind
	for kind := range kinds.Scheme.AllKnownTypes() {
		found = append(found, kind)
	}
	sort.Slice(found, func(i, j int) bool { return found[i].String() < found[j].String() })
	var kept []schema.GroupVersionKind
	for _, kind := range found {
		object, err := kinds.Scheme.New(kind)
		fixture.Must(err)
		_, hasMessage := object.(interface{ MarshalTo([]byte) (int, error) })
		if t := reflect.TypeOf(object); hasMessage && !isRemoved(object) && !special[kind.Kind] && !seen[t] {
			seen[t] = true
			kept = append(kept, kind)
		}
	}
	return kept
}

// Kinds whose JSON is not that of a struct.
var special = map[string]bool{"WatchEvent": true, "List": true}

// The oldest release that a server can emulate, of version 1.
const oldestEmulated = 33

func isRemoved(object runtime.Object) bool {
	removed, known := object.(interface{ APILifecycleRemoved() (int, int) })
	if !known {
		return false
	}
	_, minor := removed.APILifecycleRemoved()
	return minor > 0 && minor <= oldestEmulated
}

func encode(object runtime.Object, kind schema.GroupVersionKind) row {
	var text, message bytes.Buffer
	fixture.Must(jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, kinds.Scheme, kinds.Scheme, jsonserializer.SerializerOptions{}).Encode(object, &text))
	fixture.Must(protobuf.NewSerializer(kinds.Scheme, kinds.Scheme).Encode(object, &message))
	apiVersion, name := kind.ToAPIVersionAndKind()
	return row{APIVersion: apiVersion, Kind: name, JSON: bytes.TrimSpace(text.Bytes()), Protobuf: message.Bytes()}
}

// filler fills values with distinct data.
type filler struct {
	count int
	// JSON schemas so far; they contain each other without end.
	schemas int
}

const (
	depthMax   = 14
	schemasMax = 12
)

func (f *filler) fill(value reflect.Value, depth int) {
	f.count++
	if f.special(value) {
		return
	}
	switch value.Kind() {
	case reflect.Pointer:
		if depth < depthMax {
			value.Set(reflect.New(value.Type().Elem()))
			f.fill(value.Elem(), depth+1)
		}
	case reflect.Struct:
		for index := 0; index < value.NumField(); index++ {
			if field := value.Type().Field(index); field.IsExported() && field.Type != reflect.TypeOf(metav1.TypeMeta{}) {
				f.fill(value.Field(index), depth+1)
			}
		}
	case reflect.Slice:
		f.fillSlice(value, depth)
	case reflect.Map:
		f.fillMap(value, depth)
	case reflect.String:
		value.SetString(fmt.Sprintf("text %d é <&>", f.count))
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int32:
		value.SetInt(int64(f.count) * [...]int64{1, -1, 1000}[f.count%3])
	case reflect.Int64:
		value.SetInt(int64(f.count) * [...]int64{1, -1, 1_000_000_007, 1 << 45}[f.count%4])
	case reflect.Float64:
		value.SetFloat(float64(f.count) + 0.25)
	default:
		panic("no value of " + value.Type().String())
	}
}

func (f *filler) fillSlice(value reflect.Value, depth int) {
	if value.Type().Elem().Kind() == reflect.Uint8 {
		value.SetBytes([]byte{0, 0xff, byte(f.count)})
		return
	}
	if depth >= depthMax {
		return
	}
	length := 2
	if depth > 3 {
		length = 1
	}
	value.Set(reflect.MakeSlice(value.Type(), length, length))
	for index := range length {
		f.fill(value.Index(index), depth+1)
	}
}

func (f *filler) fillMap(value reflect.Value, depth int) {
	if depth >= depthMax {
		return
	}
	value.Set(reflect.MakeMap(value.Type()))
	for _, text := range []string{"b", "é", "a"} {
		key, held := reflect.New(value.Type().Key()).Elem(), reflect.New(value.Type().Elem()).Elem()
		key.SetString(text)
		f.fill(held, depth+1)
		value.SetMapIndex(key, held)
		if depth > 3 {
			return
		}
	}
}

// special fills types that have their own encodings.
func (f *filler) special(value reflect.Value) bool {
	if !value.CanAddr() {
		return false
	}
	switch target := value.Addr().Interface().(type) {
	case *resource.Quantity:
		*target = resource.MustParse([...]string{"100m", "12Gi", "5e3", "1500"}[f.count%4])
	case *metav1.Time:
		*target = metav1.NewTime(time.Unix(1_700_000_000+int64(f.count), 0).UTC())
	case *metav1.MicroTime:
		*target = metav1.NewMicroTime(time.Unix(1_700_000_000, int64(f.count)*1000).UTC())
	case *metav1.Duration:
		target.Duration = time.Duration(f.count) * 1_500 * time.Millisecond
	case *intstr.IntOrString:
		*target = [...]intstr.IntOrString{intstr.FromInt32(8080), intstr.FromString("25%")}[f.count%2]
	case *runtime.RawExtension:
		target.Raw = []byte(`{"kind":"Any","nested":[1,"a",null]}`)
	case *metav1.FieldsV1:
		target.Raw = []byte(`{"f:data":{".":{},"f:a":{}}}`)
	case *apiextensionsv1.JSON:
		target.Raw = []byte(`{"a":[1.5,"b"]}`)
	case *apiextensionsv1.JSONSchemaProps:
		if f.schemas++; f.schemas > schemasMax {
			return true
		}
		return false
	default:
		return f.union(value)
	}
	return true
}

// union fills types of JSON schema that hold one of several types, alternately.
func (f *filler) union(value reflect.Value) bool {
	switch target := value.Addr().Interface().(type) {
	case *apiextensionsv1.JSONSchemaPropsOrArray:
		if f.count%2 == 0 {
			target.JSONSchemas = []apiextensionsv1.JSONSchemaProps{{Type: "string"}, {Type: "integer"}}
		} else {
			target.Schema = &apiextensionsv1.JSONSchemaProps{Type: "number"}
		}
	case *apiextensionsv1.JSONSchemaPropsOrBool:
		target.Allows = true
		if f.count%2 == 0 {
			target.Schema = &apiextensionsv1.JSONSchemaProps{Type: "boolean"}
		}
	case *apiextensionsv1.JSONSchemaPropsOrStringArray:
		if f.count%2 == 0 {
			target.Property = []string{"a", "b"}
		} else {
			target.Schema = &apiextensionsv1.JSONSchemaProps{Type: "array"}
		}
	default:
		return false
	}
	return true
}
