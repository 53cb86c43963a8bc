// Records what upstream makes of an EncryptionConfiguration: the error of a start, and how it opens stored values. Reads rows
// from standard input and replaces their answers. A value without its stored form is encrypted first, which keeps recordings equal.
package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/server/options/encryptionconfig"
	"k8s.io/apiserver/pkg/storage/value"
	"k8s.io/klog/v2"

	"coxswain/tools/golden/internal/fixture"
)

type row struct {
	What   string   `json:"what"`
	Config string   `json:"config"`
	Reload bool     `json:"reload,omitempty"`
	Error  string   `json:"error,omitempty"`
	Values []stored `json:"values,omitempty"`
}

type stored struct {
	Resource string `json:"resource"`
	Key      string `json:"key"`
	Sealed   []byte `json:"sealed"`
	Plain    string `json:"plain,omitempty"`
	Stale    bool   `json:"stale,omitempty"`
	Error    string `json:"error,omitempty"`
}

func main() {
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	directory, err := os.MkdirTemp("", "encryption")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(directory)
	file := filepath.Join(directory, "config.yaml")
	for r := range fixture.Rows[row]() {
		answer(&r, file)
		fixture.Write(r)
	}
}

func answer(r *row, file string) {
	if err := os.WriteFile(file, []byte(r.Config), 0o600); err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	loaded, err := encryptionconfig.LoadEncryptionConfig(ctx, file, r.Reload, "server")
	r.Error = ""
	if err != nil {
		r.Error = strings.ReplaceAll(err.Error(), file, "FILE")
		return
	}
	transformers := encryptionconfig.StaticTransformers(loaded.Transformers)
	for i := range r.Values {
		open(ctx, &r.Values[i], transformers)
	}
}

func open(ctx context.Context, v *stored, transformers encryptionconfig.StaticTransformers) {
	transformer := transformers.TransformerForResource(schema.ParseGroupResource(v.Resource))
	if len(v.Sealed) == 0 {
		sealed, err := transformer.TransformToStorage(ctx, []byte(v.Plain), value.DefaultContext(v.Key))
		if err != nil {
			panic(err)
		}
		v.Sealed = sealed
	}
	v.Plain, v.Error = "", ""
	plain, stale, err := transformer.TransformFromStorage(ctx, v.Sealed, value.DefaultContext(v.Key))
	v.Stale = stale
	if err != nil {
		v.Error = err.Error()
		return
	}
	v.Plain = string(plain)
}
