// Records how upstream prints objects as tables. Reads an object from each line of standard input and writes {"object", "cells",
// "conditions", "columns"} of each that has a printer; the columns only with the first object of its kind. The first line, the time
// of recording, is copied.
package main

import (
	"context"
	"encoding/json"
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

	"coxswain/tools/golden/internal/fixture"
)

type row struct {
	Object     json.RawMessage                `json:"object"`
	Cells      []any                          `json:"cells"`
	Conditions []metav1.TableRowCondition     `json:"conditions,omitempty"`
	Columns    []metav1.TableColumnDefinition `json:"columns,omitempty"`
}

func main() {
	convertor := printerstorage.TableConvertor{TableGenerator: printers.NewTableGenerator().With(printersinternal.AddHandlers)}
	seen := map[schema.GroupVersionKind]bool{}
	for row := range fixture.Rows[json.RawMessage]() {
		if len(seen) == 0 && !isObject(row) {
			fixture.Write(row) // The time of recording.
			continue
		}
		kind, shown := show(convertor, row)
		if shown == nil {
			continue
		}
		if seen[kind] {
			shown.Columns = nil
		}
		seen[kind] = true
		fixture.Write(shown)
	}
}

func isObject(line []byte) bool {
	var typeMeta metav1.TypeMeta
	return json.Unmarshal(line, &typeMeta) == nil && typeMeta.Kind != ""
}

// show returns nil for an object that has no printer, that makes it panic, or that prints as no valid object does.
func show(convertor printerstorage.TableConvertor, line []byte) (kind schema.GroupVersionKind, shown *row) {
	defer func() {
		if recover() != nil {
			shown = nil
		}
	}()
	var typeMeta metav1.TypeMeta
	fixture.Must(json.Unmarshal(line, &typeMeta))
	kind = schema.FromAPIVersionAndKind(typeMeta.APIVersion, typeMeta.Kind)
	versioned, err := legacyscheme.Scheme.New(kind)
	fixture.Must(err)
	fixture.Must(json.Unmarshal(line, versioned))
	internal, err := legacyscheme.Scheme.UnsafeConvertToVersion(versioned, schema.GroupVersion{Group: kind.Group, Version: runtime.APIVersionInternal})
	fixture.Must(err)
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
