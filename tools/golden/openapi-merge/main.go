// Records how k8s.io/kube-openapi merges and converts documents. The argument selects what is recorded:
//   - tests: the calls that upstream's own tests make, run in a copy of the module whose functions record them.
//     Each line is one call; equal calls are one line, and lines are sorted.
//   - documents: for each document of standard input its canonical form, and its conversion to OpenAPI v3.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/kube-openapi/pkg/openapiconv"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"coxswain/tools/golden/internal/fixture"
)

//go:embed _recorder/recorder.go
var recorder []byte

const folder = "pkg/aggregator"

var recorded = []string{"func mergeSpecs(", "func FilterSpecByPathsWithoutSideEffects("}

func main() {
	switch os.Args[1] {
	case "tests":
		recordTests()
	case "documents":
		recordDocuments()
	default:
		panic("unknown recording " + os.Args[1])
	}
}

type row struct {
	Document  json.RawMessage `json:"document"`
	Canonical json.RawMessage `json:"canonical,omitempty"`
	Converted json.RawMessage `json:"converted,omitempty"`
	// Whether Go's decoder rejects the document.
	Rejected bool `json:"rejected,omitempty"`
}

func recordDocuments() {
	for one := range fixture.Rows[row]() {
		swagger := &spec.Swagger{}
		if err := swagger.UnmarshalJSON(one.Document); err != nil {
			fixture.Write(row{Document: one.Document, Rejected: true})
			continue
		}
		canonical, err := json.Marshal(swagger)
		fixture.Must(err)
		fixture.Write(row{Document: one.Document, Canonical: canonical, Converted: convert(swagger)})
	}
}

// convert returns nil for documents with which upstream's conversion panics.
func convert(swagger *spec.Swagger) (converted json.RawMessage) {
	defer func() { recover() }()
	converted, err := json.Marshal(openapiconv.ConvertV2ToV3(swagger))
	fixture.Must(err)
	return converted
}

func recordTests() {
	copied, err := os.MkdirTemp("", "coxswain-kube-openapi-")
	fixture.Must(err)
	defer os.RemoveAll(copied)
	fixture.Must(os.CopyFS(copied, os.DirFS(upstream())))
	path := filepath.Join(copied, folder, "aggregator.go")
	source, err := os.ReadFile(path)
	fixture.Must(err)
	for _, function := range recorded {
		renamed := strings.TrimSuffix(function, "(") + "Unrecorded("
		source = bytes.Replace(source, []byte("\n"+function), []byte("\n"+renamed), 1)
	}
	fixture.Must(os.Chmod(path, 0o644))
	fixture.Must(os.WriteFile(path, source, 0o644))
	fixture.Must(os.WriteFile(filepath.Join(copied, folder, "recorder.go"), recorder, 0o644))
	record := filepath.Join(copied, "recorded.jsonl")
	// The documents of these tests are large, and add nothing.
	test := exec.Command("go", "test", "-count=1", "-skip=WithKubeSpec|CloneSpec", "./"+folder)
	test.Dir = copied
	test.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false", "GOWORK=off", "RECORDING="+record)
	test.Stdout, test.Stderr = os.Stderr, os.Stderr
	fixture.Must(test.Run())
	content, err := os.ReadFile(record)
	fixture.Must(err)
	lines := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
	slices.Sort(lines)
	for _, line := range slices.Compact(lines) {
		fmt.Println(line)
	}
}

// upstream returns the directory of the module's source.
func upstream() string {
	path, err := exec.Command("go", "list", "-C", "tools/golden", "-m", "-f", "{{.Dir}}", "k8s.io/kube-openapi").Output()
	fixture.Must(err)
	return strings.TrimSpace(string(path))
}
