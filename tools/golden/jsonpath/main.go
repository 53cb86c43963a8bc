// Records what client-go's JSONPath finds in an object, and what tables of custom resources show of it. The first line is the object,
// each other line a path with its results. The order of what `..` and `*` find in maps varies.
package main

import (
	"context"
	"encoding/json"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"

	"coxswain/tools/golden/internal/fixture"
)

const object = `{
  "metadata": {"name": "n", "labels": {"a.b/c": "x", "plain": "y"}},
  "spec": {
    "size": 3, "ratio": 1.5, "big": 1234567.5, "on": true, "off": false, "none": null, "text": "ab", "empty": "", "zero": 0, "markup": "<&>",
    "map": {"only": {"deep": [1, 2, {"z": "last"}]}}, "list": ["a", "b", "c", "d"], "numbers": [5, 1, 3], "nothing": [], "hollow": {},
    "quoted": [{"k": "it's", "v": 1}, {"k": "say \"x\"", "v": 2}, {"k": "a)b", "v": 3}, {"k": "line\nbreak", "v": 4}],
    "items": [{"name": "one", "port": 80, "on": true}, {"name": "two", "port": 443, "weight": 0.5}, {"name": "three", "port": 8080, "tags": ["p", "q"], "empty": null}]
  },
  "status": {"conditions": [{"type": "Synced", "status": "False"}, {"type": "Ready", "status": "True"}]}
}`

var paths = []string{
	".spec.size", "$.spec.size", "@.spec.size", "spec.size", " .spec.size ", ".spec .size", ".spec.none", ".spec.nope", ".spec.nope.x", ".spec.size.x", ".spec.none.x",
	".spec.text", ".spec.empty", ".spec.on", ".spec.off", ".spec.ratio", ".spec.big", ".spec.zero", ".spec.map", ".spec.hollow", ".spec.nothing", ".spec.markup", ".spec.list",
	".metadata.labels['a.b/c']", `.metadata.labels['a\.b/c']`, `.metadata.labels.a\.b/c`, ".metadata.labels['plain']", `.metadata.labels["plain"]`, "['metadata']['name']",
	".metadata['name','labels']", ".spec['size','ratio','nope']", ".spec['size', 'on']", ".spec.list[0,2]", ".spec.list[0,'x']", ".spec.list[9,0]",
	".spec.list[0]", ".spec.list[3]", ".spec.list[4]", ".spec.list[-1]", ".spec.list[-4]", ".spec.list[-5]", ".spec.list[]", ".spec.list[*]", ".spec.list.*", ".spec.list[:]",
	".spec.list[1:3]", ".spec.list[:2]", ".spec.list[2:]", ".spec.list[-2:]", ".spec.list[:-1]", ".spec.list[1:-1]", ".spec.list[::2]", ".spec.list[1::2]", ".spec.list[0:4:3]",
	".spec.list[0:9]", ".spec.list[3:1]", ".spec.list[2:2]", ".spec.list[::0]", ".spec.list[::-1]", ".spec.list[0:0]", ".spec.list[-1:]", ".spec.list[x]", ".spec.list[--1]", ".spec.list[1:2:3:4]",
	".spec.nothing[0]", ".spec.nothing[*]", ".spec.nothing[-1]", ".spec.size[0]", ".spec.none[0]", ".spec.nope[0]", ".spec.map[0]", ".spec.text[0]", ".spec.text[*]", ".spec.text.*", ".spec.size.*", ".spec.none.*",
	".spec.map.*", ".spec.map[*]", ".spec.map.only.deep[2].z", ".spec.map.*.deep[0]", ".spec.map.only.deep[*].z", ".status.conditions[*].type",
	`.status.conditions[?(@.type=="Ready")].status`, `.status.conditions[?(@.type=='Ready')].status`, `.status.conditions[?(@.type!="Ready")].status`, `.status.conditions[?( @.type == "Ready" )].status`,
	`.status.conditions[?(@.type==Ready)].status`, `.status.conditions[?(@.type)].type`, `.status.conditions[?(@.nope)].type`, `.status.conditions[?(@.type=="None")].status`, `.status.conditions[?(@.type=="Ready")][0]`,
	`.status.conditions[?(.type=="Ready")].status`, `.status.conditions[?(@['type']=="Ready")].status`, `.status.conditions[?(type=="Ready")].status`,
	".spec.items[?(@.port>80)].name", ".spec.items[?(@.port>=443)].name", ".spec.items[?(@.port<443)].name", ".spec.items[?(@.port<=443)].name", ".spec.items[?(@.port==443)].name", ".spec.items[?(@.port!=443)].name",
	".spec.items[?(@.port>80.5)].name", ".spec.items[?(@.weight>0.1)].name", ".spec.items[?(@.weight==0.5)].name", ".spec.items[?(@.weight>0)].name", ".spec.items[?(@.on==true)].name", ".spec.items[?(@.on!=true)].name", ".spec.items[?(@.on>false)].name",
	`.spec.items[?(@.name>"one")].port`, `.spec.items[?(@.name<"two")].port`, ".spec.items[?(@.port=80)].name", ".spec.items[?(@.port<>80)].name", ".spec.items[?(80==@.port)].name", ".spec.items[?(@.port==@.port)].name",
	".spec.items[?(@.tags[0]=='p')].name", ".spec.items[?(@.tags[*]=='p')].name", ".spec.items[?(@.tags[5])].name", ".spec.items[?(@.tags)].name", ".spec.items[?(@.empty)].name", ".spec.items[?(@.empty==1)].name", ".spec.items[?(@.tags==1)].name",
	".spec.items[?(@.name[0])].port", ".spec.numbers[?(@>2)]", ".spec.numbers[?(@==3)]", ".spec.list[?(@=='b')]", ".spec.size[?(@.a)]", ".spec.nope[?(@.a)]", ".spec.none[?(@.a)]", ".spec.map[?(@.a)]", ".spec.text[*][?(@.a)]",
	`.spec.quoted[?(@.k=="it's")].v`, `.spec.quoted[?(@.k=='it\'s')].v`, `.spec.quoted[?(@.k=="say \"x\"")].v`, `.spec.quoted[?(@.k=='say "x"')].v`, `.spec.quoted[?(@.k=="a)b")].v`, `.spec.quoted[?(@.k=="line\nbreak")].v`, `.spec.quoted[?(@.k=="\x61)b")].v`, `.spec.quoted[?(@.k=="\q")].v`,
	"..name", "..port", "..size", "..nope", "..", "...name", "....name", "..*", "..['name']", "..[0]", ".spec.map..z", ".spec.map..", ".spec.map..deep[0]", ".spec.list..", ".spec.items..name", ".spec..conditions", ".status..[?(@.type=='Ready')]",
	".", ".*", ".[0]", "..spec.size", "", "$", "@", "'quoted'", `"quoted"`, `"it's"`, `"unclosed`, `"\u0061"`, "1", "1.5", "-1", "+1", "-", "1.2.3", "true", "false", "range", "end", "word", "(x)", ".a)", "*", ".spec.list[0", ".spec[?(@.a)", ".spec[?(@.a]", ".spec[?()]", ".spec[?(==1)]",
	".spec.size} .spec.ratio", ".spec.size} text {.spec.ratio", "range .spec.items[*]}{.name}{end", "range .spec.items[*]}{.name}{'-'}{.port}{end}{.spec.size", "range .spec.nope}{.name}{end}{.spec.size", ".spec.size}{end", "range .spec.items[*]}{range .tags[*]}{.}{end}{.name}{end}{.spec.size", ".spec.{size", `.spec.si\ze`, `.spec.a\`, ".spec.é", "é", ".spec-size", ".spec.size\n", ".spec.\tsize",
}

type row struct {
	Path    string          `json:"path"`
	Syntax  bool            `json:"syntax,omitempty"`
	Failed  bool            `json:"failed,omitempty"`
	Results [][]interface{} `json:"results,omitempty"`
	Cells   []interface{}   `json:"cells,omitempty"`
}

var types = []string{"string", "integer", "number", "boolean"}

func main() {
	fmt.Println(compact(object))
	for _, path := range paths {
		fixture.Write(find(path))
	}
}

func compact(text string) string {
	u := parsed()
	bytes, err := json.Marshal(u.Object)
	fixture.Must(err)
	return string(bytes)
}

func parsed() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	fixture.Must(u.UnmarshalJSON([]byte(`{"apiVersion":"a/v1","kind":"K",` + object[1:])))
	return u
}

func find(path string) (result row) {
	result.Path = path
	defer func() {
		if recover() != nil {
			result.Failed = true
			result.Results = nil
		}
	}()
	parser := jsonpath.New("x").AllowMissingKeys(true)
	if parser.Parse("{"+path+"}") != nil {
		result.Syntax = true
		return result
	}
	for _, kind := range types {
		columns := []apiextensionsv1.CustomResourceColumnDefinition{{Name: "c", Type: kind, JSONPath: path}}
		table, err := tableconvertor.New(columns)
		fixture.Must(err)
		rows, err := table.ConvertToTable(context.Background(), parsed(), nil)
		fixture.Must(err)
		result.Cells = append(result.Cells, rows.Rows[0].Cells[1])
	}
	found, err := parser.FindResults(parsed().Object)
	if err != nil {
		result.Failed = true
		return result
	}
	result.Results = [][]interface{}{}
	for _, values := range found {
		list := []interface{}{}
		for _, value := range values {
			if !value.IsValid() {
				list = append(list, nil)
				continue
			}
			list = append(list, value.Interface())
		}
		result.Results = append(result.Results, list)
	}
	return result
}
