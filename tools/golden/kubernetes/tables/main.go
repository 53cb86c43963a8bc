// Shows objects as upstream's printers do: reads lines of JSON, an object each, and writes {"object", "cells", "conditions", "columns"} of each that
// can be shown; the columns only with the first of its kind. The first line is passed on.
//
//	node objects.ts | go run . | gzip -9n > ../../src/apis/testdata/tables.jsonl.gz
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/apiserverinternal/install"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	_ "k8s.io/kubernetes/pkg/apis/storagemigration/install"
	"k8s.io/kubernetes/pkg/printers"
	printersinternal "k8s.io/kubernetes/pkg/printers/internalversion"
	printerstorage "k8s.io/kubernetes/pkg/printers/storage"
)

type row struct {
	Object     json.RawMessage                `json:"object"`
	Cells      []any                          `json:"cells"`
	Conditions []metav1.TableRowCondition     `json:"conditions,omitempty"`
	Columns    []metav1.TableColumnDefinition `json:"columns,omitempty"`
}

func main() {
	convertor := printerstorage.TableConvertor{TableGenerator: printers.NewTableGenerator().With(printersinternal.AddHandlers)}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	in.Scan()
	fmt.Fprintln(out, in.Text())
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	seen := map[schema.GroupVersionKind]bool{}
	for in.Scan() {
		kind, shown := show(convertor, in.Bytes())
		if shown == nil {
			continue
		}
		if seen[kind] {
			shown.Columns = nil
		}
		seen[kind] = true
		must(encoder.Encode(shown))
	}
}

// Nil for what has no printer, makes it panic, or shows as what no valid object does.
func show(convertor printerstorage.TableConvertor, line []byte) (kind schema.GroupVersionKind, shown *row) {
	defer func() {
		if recover() != nil {
			shown = nil
		}
	}()
	var typeMeta metav1.TypeMeta
	must(json.Unmarshal(line, &typeMeta))
	kind = schema.FromAPIVersionAndKind(typeMeta.APIVersion, typeMeta.Kind)
	versioned, err := legacyscheme.Scheme.New(kind)
	must(err)
	must(json.Unmarshal(line, versioned))
	internal, err := legacyscheme.Scheme.UnsafeConvertToVersion(versioned, schema.GroupVersion{Group: kind.Group, Version: runtime.APIVersionInternal})
	must(err)
	table, err := convertor.ConvertToTable(context.Background(), internal, &metav1.TableOptions{})
	if err != nil {
		return kind, nil
	}
	for _, cell := range table.Rows[0].Cells {
		if text, ok := cell.(string); ok && (strings.Contains(text, "<nil>") || strings.Contains(text, "<invalid>")) {
			return kind, nil
		}
	}
	return kind, &row{Object: append([]byte(nil), line...), Cells: table.Rows[0].Cells, Conditions: table.Rows[0].Conditions, Columns: table.ColumnDefinitions}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
