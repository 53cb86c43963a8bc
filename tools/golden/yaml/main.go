// Records how upstream's library converts the texts in the rows on standard input: of `in` the JSON or the error, and the error of the
// strict decoder; of `json` the YAML.
package main

import (
	"sigs.k8s.io/yaml"

	"coxswain/tools/golden/internal/fixture"
)

type row struct {
	In     *string `json:"in,omitempty"`
	JSON   string  `json:"json,omitempty"`
	Strict string  `json:"strict,omitempty"`
	Error  string  `json:"error,omitempty"`
	Out    string  `json:"out,omitempty"`
}

func main() {
	for given := range fixture.Rows[row]() {
		fixture.Write(answer(given))
	}
}

func answer(given row) row {
	if given.In == nil {
		text, err := yaml.JSONToYAML([]byte(given.JSON))
		if err != nil {
			return row{JSON: given.JSON, Error: err.Error()}
		}
		return row{JSON: given.JSON, Out: string(text)}
	}
	text, err := yaml.YAMLToJSON([]byte(*given.In))
	if err != nil {
		return row{In: given.In, Error: err.Error()}
	}
	made := row{In: given.In, JSON: string(text)}
	if _, err := yaml.YAMLToJSONStrict([]byte(*given.In)); err != nil {
		made.Strict = err.Error()
	}
	return made
}
