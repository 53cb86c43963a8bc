// Prints what upstream's library makes of the texts on standard input, one JSON object a line: of `in` the JSON or the error, and what its
// strict decoder says; of `json` the YAML. Whatever else the lines hold is made anew.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"os"

	"sigs.k8s.io/yaml"
)

type row struct {
	In     *string `json:"in,omitempty"`
	JSON   string  `json:"json,omitempty"`
	Strict string  `json:"strict,omitempty"`
	Error  string  `json:"error,omitempty"`
	Out    string  `json:"out,omitempty"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for lines.Scan() {
		var given row
		if err := json.Unmarshal(lines.Bytes(), &given); err != nil {
			log.Fatal(err)
		}
		if err := out.Encode(answer(given)); err != nil {
			log.Fatal(err)
		}
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
