// Records what upstream publishes about custom resources: for each version of each definition in the file that the argument names,
// its OpenAPI documents in both versions. Descriptions that do not come from the definition (these begin with `own:`) are left out.
package main

import (
	"encoding/json"
	"os"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/kube-openapi/pkg/handler"

	"coxswain/tools/golden/internal/fixture"
)

type published struct {
	Definition string `json:"definition"`
	Version    string `json:"version"`
	V2         any    `json:"v2"`
	V3         any    `json:"v3"`
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	fixture.Must(err)
	var definitions []apiextensionsv1.CustomResourceDefinition
	fixture.Must(json.Unmarshal(text, &definitions))
	documents := []published{}
	for _, definition := range definitions {
		for _, version := range definition.Spec.Versions {
			v2, err := builder.BuildOpenAPIV2(&definition, version.Name, builder.Options{V2: true, IncludeSelectableFields: true})
			fixture.Must(err)
			v2.Definitions = handler.PruneDefaults(v2.Definitions)
			v3, err := builder.BuildOpenAPIV3(&definition, version.Name, builder.Options{IncludeSelectableFields: true})
			fixture.Must(err)
			documents = append(documents, published{definition.Name, version.Name, own(plain(v2)), own(plain(v3))})
		}
	}
	fixture.WriteIndented(documents)
}

func plain(document any) any {
	text, err := json.Marshal(document)
	fixture.Must(err)
	var value any
	fixture.Must(json.Unmarshal(text, &value))
	return value
}

// own removes other descriptions, and types that every document has.
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
