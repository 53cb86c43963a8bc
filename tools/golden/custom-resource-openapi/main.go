// Writes what upstream publishes of custom resources: for each version of each definition in the file, its documents in both versions of OpenAPI.
// Descriptions that are not the definition's own (which begin with `own:`) are left out.
//
//	go run . ../../src/http/endpoints/testdata/openapi-definitions.json > ../../src/http/endpoints/testdata/openapi-published.json
package main

import (
	"encoding/json"
	"log"
	"os"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/kube-openapi/pkg/handler"
)

type published struct {
	Definition string `json:"definition"`
	Version    string `json:"version"`
	V2         any    `json:"v2"`
	V3         any    `json:"v3"`
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	must(err)
	var definitions []apiextensionsv1.CustomResourceDefinition
	must(json.Unmarshal(text, &definitions))
	documents := []published{}
	for _, definition := range definitions {
		for _, version := range definition.Spec.Versions {
			v2, err := builder.BuildOpenAPIV2(&definition, version.Name, builder.Options{V2: true, IncludeSelectableFields: true})
			must(err)
			v2.Definitions = handler.PruneDefaults(v2.Definitions)
			v3, err := builder.BuildOpenAPIV3(&definition, version.Name, builder.Options{IncludeSelectableFields: true})
			must(err)
			documents = append(documents, published{definition.Name, version.Name, own(plain(v2)), own(plain(v3))})
		}
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	must(encoder.Encode(documents))
}

func plain(document any) any {
	text, err := json.Marshal(document)
	must(err)
	var value any
	must(json.Unmarshal(text, &value))
	return value
}

// own takes other descriptions, and types that every document has, out of a document.
func own(value any) any {
	switch value := value.(type) {
	case []any:
		for _, one := range value {
			own(one)
		}
	case map[string]any:
		for key, one := range value {
			text, isText := one.(string)
			switch {
			case key == "description" && isText && !strings.HasPrefix(text, "own:"):
				delete(value, key)
			case strings.HasPrefix(key, "io.k8s."):
				delete(value, key)
			default:
				own(one)
			}
		}
	}
	return value
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
