package aggregator

import (
	"encoding/json"
	"os"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

func mergeSpecs(dest, source *spec.Swagger, renameModels, renameParameters, ignorePaths bool) error {
	before, other := encode(dest), encode(source)
	err := mergeSpecsUnrecorded(dest, source, renameModels, renameParameters, ignorePaths)
	// Without conflicts of paths, ignoring them changes only what a document without paths adds.
	hasPaths := source.Paths != nil && len(source.Paths.Paths) > 0
	if renameModels && renameParameters && (ignorePaths || hasPaths) && err == nil {
		record(map[string]any{"call": "merge", "target": before, "source": other, "result": encode(dest)})
	}
	return err
}

func FilterSpecByPathsWithoutSideEffects(document *spec.Swagger, prefixes []string) *spec.Swagger {
	before := encode(document)
	result := FilterSpecByPathsWithoutSideEffectsUnrecorded(document, prefixes)
	record(map[string]any{"call": "filter", "document": before, "prefixes": prefixes, "result": encode(result)})
	return result
}

func encode(document *spec.Swagger) json.RawMessage {
	encoded, err := json.Marshal(document)
	if err != nil {
		panic(err)
	}
	return encoded
}

func record(call map[string]any) {
	line, err := json.Marshal(call)
	if err != nil {
		panic(err)
	}
	file, err := os.OpenFile(os.Getenv("RECORDING"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	if _, err := file.Write(append(line, '\n')); err != nil {
		panic(err)
	}
}
