// Reads a server's OpenAPI documents with upstream's clients, in JSON and protobuf. Prints failures
// and exits with 1 if there are any.
//
//	go run . KUBECONFIG
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"time"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/kube-openapi/pkg/spec3"
	utilproto "k8s.io/kube-openapi/pkg/util/proto"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

const (
	jsonType = "application/json"
	v2Type   = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
	oldType  = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
	v3Type   = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
)

var failures []string

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	must(err)
	config.QPS = 1000
	config.Timeout = time.Minute
	client := discovery.NewDiscoveryClientForConfigOrDie(config)
	checkV2(client)
	checkV3(client)
	for _, failure := range failures {
		fmt.Println(failure)
	}
	if len(failures) > 0 {
		os.Exit(1)
	}
	fmt.Println("all well")
}

func checkV2(client *discovery.DiscoveryClient) {
	text := get(client.RESTClient(), "/openapi/v2", jsonType)
	want, err := openapi_v2.ParseDocument(text)
	must(err)
	for _, mediaType := range []string{v2Type, oldType} {
		bytes := get(client.RESTClient(), "/openapi/v2", mediaType)
		got := &openapi_v2.Document{}
		must(proto.Unmarshal(bytes, got))
		check(proto.Equal(got, want), "v2 as %v differs from what gnostic encodes from the JSON", mediaType)
		encoded, err := proto.Marshal(want)
		must(err)
		check(len(encoded) == len(bytes), "v2 as %v has %v bytes, gnostic's has %v", mediaType, len(bytes), len(encoded))
	}

	document, err := client.OpenAPISchema()
	must(err)
	models, err := utilproto.NewOpenAPIData(document)
	must(err)
	check(len(models.ListModels()) > 700, "only %v models", len(models.ListModels()))
	pod := models.LookupModel("io.k8s.api.core.v1.Pod")
	check(pod != nil && pod.GetExtensions()["x-kubernetes-group-version-kind"] != nil, "a pod has no kind")

	swagger := &spec.Swagger{}
	must(json.Unmarshal(text, swagger))
	check(len(swagger.Paths.Paths) == len(want.Paths.Path), "%v paths instead of %v", len(swagger.Paths.Paths), len(want.Paths.Path))
}

func checkV3(client *discovery.DiscoveryClient) {
	root := openapi3.NewRoot(client.OpenAPIV3())
	versions, err := root.GroupVersions()
	must(err)
	check(len(versions) > 20, "only %v group versions", len(versions))
	for _, version := range versions {
		document, err := root.GVSpec(version)
		must(err)
		check(len(document.Paths.Paths) > 0, "%v has no paths", version)
	}

	paths, err := client.OpenAPIV3().Paths()
	must(err)
	names := []string{}
	for name := range paths {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		text, err := paths[name].Schema(jsonType)
		must(err)
		bytes, err := paths[name].Schema(v3Type)
		must(err)
		want, err := openapi_v3.ParseDocument(text)
		must(err)
		got := &openapi_v3.Document{}
		must(proto.Unmarshal(bytes, got))
		check(proto.Equal(got, want), "v3 %v differs from what gnostic encodes from the JSON", name)

		document := &spec3.OpenAPI{}
		must(json.Unmarshal(text, document))
		again, err := json.Marshal(document)
		must(err)
		check(sameJSON(text, again), "v3 %v has members that kube-openapi does not know", name)
		for _, reference := range references(text) {
			_, found := document.Components.Schemas[strings.TrimPrefix(reference, "#/components/schemas/")]
			check(found, "v3 %v: %v refers to no schema", name, reference)
		}
	}
}

func references(text []byte) []string {
	var document any
	must(json.Unmarshal(text, &document))
	found := []string{}
	var walk func(any)
	walk = func(value any) {
		switch value := value.(type) {
		case []any:
			for _, one := range value {
				walk(one)
			}
		case map[string]any:
			for key, one := range value {
				if reference, is := one.(string); is && key == "$ref" {
					found = append(found, reference)
				}
				walk(one)
			}
		}
	}
	walk(document)
	return found
}

func sameJSON(a, b []byte) bool {
	var x, y any
	must(json.Unmarshal(a, &x))
	must(json.Unmarshal(b, &y))
	left, err := json.Marshal(x)
	must(err)
	right, err := json.Marshal(y)
	must(err)
	return string(left) == string(right)
}

func get(client rest.Interface, path, accept string) []byte {
	body, err := client.Get().AbsPath(path).SetHeader("Accept", accept).Do(context.Background()).Raw()
	must(err)
	return body
}

func check(holds bool, format string, values ...any) {
	if !holds {
		failures = append(failures, fmt.Sprintf(format, values...))
	}
}

func must(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
