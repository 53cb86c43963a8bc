// Records how kube-apiserver decodes stored objects. Reads rows {"apiVersion", "kind", "storageVersion", "object"} from standard input
// and stores the object as protobuf at its version; a row may have the bytes "stored" instead. Continues with the files of these kinds
// in the testdata of k8s.io/api. Writes {"kind", "stored", "object"}: the stored bytes and the JSON of the decoded object at the storage
// version, or "error" in place of the object.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"
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
	_ "k8s.io/kubernetes/pkg/apis/extensions/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	_ "k8s.io/kubernetes/pkg/apis/storagemigration/install"

	"coxswain/tools/golden/internal/fixture"
)

type request struct {
	APIVersion     string          `json:"apiVersion"`
	Kind           string          `json:"kind"`
	StorageVersion string          `json:"storageVersion"`
	Object         json.RawMessage `json:"object"`
	Stored         []byte          `json:"stored"`
}

type row struct {
	Kind   string          `json:"kind"`
	Stored []byte          `json:"stored"`
	Object json.RawMessage `json:"object,omitempty"`
	Error  string          `json:"error,omitempty"`
}

func main() {
	storage := map[schema.GroupVersionKind]schema.GroupVersion{}
	for request := range fixture.Rows[request]() {
		kind := schema.FromAPIVersionAndKind(request.APIVersion, request.Kind)
		version, err := schema.ParseGroupVersion(request.StorageVersion)
		fixture.Must(err)
		storage[kind] = version
		if request.Object != nil {
			request.Stored = encode(kind, request.Object)
		}
		record(kind, version, request.Stored)
	}
	recordTestdata(storage)
}

func recordTestdata(storage map[schema.GroupVersionKind]schema.GroupVersion) {
	directory, err := exec.Command("go", "list", "-C", "tools/golden/kubernetes", "-m", "-f", "{{.Dir}}", "k8s.io/api").Output()
	fixture.Must(err)
	var kinds []schema.GroupVersionKind
	for kind := range storage {
		kinds = append(kinds, kind)
	}
	sort.Slice(kinds, func(i, j int) bool { return kinds[i].String() < kinds[j].String() })
	for _, kind := range kinds {
		group := kind.Group
		if group == "" {
			group = "core"
		}
		seen := map[string]bool{}
		for _, release := range []string{"HEAD", "v1.33.0"} {
			name := fmt.Sprintf("%s.%s.%s.pb", group, kind.Version, kind.Kind)
			stored, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(directory)), "testdata", release, name))
			if os.IsNotExist(err) || seen[string(stored)] {
				continue
			}
			fixture.Must(err)
			seen[string(stored)] = true
			record(kind, storage[kind], stored)
		}
	}
}

func codecsOf(group string) (*runtime.Scheme, serializer.CodecFactory) {
	switch group {
	case "apiextensions.k8s.io":
		scheme := runtime.NewScheme()
		apiextensions.Install(scheme)
		return scheme, serializer.NewCodecFactory(scheme)
	case "apiregistration.k8s.io":
		return aggregatorscheme.Scheme, aggregatorscheme.Codecs
	}
	return legacyscheme.Scheme, legacyscheme.Codecs
}

func encode(kind schema.GroupVersionKind, object []byte) []byte {
	scheme, codecs := codecsOf(kind.Group)
	decoded, _, err := codecs.UniversalDeserializer().Decode(object, nil, nil)
	fixture.Must(err)
	decoded.GetObjectKind().SetGroupVersionKind(kind)
	var stored bytes.Buffer
	fixture.Must(protobuf.NewSerializer(scheme, scheme).Encode(decoded, &stored))
	return stored.Bytes()
}

func record(kind schema.GroupVersionKind, version schema.GroupVersion, stored []byte) {
	defer func() {
		if problem := recover(); problem != nil {
			fmt.Fprintln(os.Stderr, "skipped, because a defaulter panics:", kind, problem)
		}
	}()
	object, err := decode(kind, version, stored)
	if err != nil {
		fixture.Write(row{Kind: kind.Kind, Stored: stored, Error: err.Error()})
		return
	}
	fixture.Write(row{Kind: kind.Kind, Stored: stored, Object: object})
}

func decode(kind schema.GroupVersionKind, version schema.GroupVersion, stored []byte) ([]byte, error) {
	scheme, codecs := codecsOf(kind.Group)
	internal := schema.GroupVersion{Group: version.Group, Version: runtime.APIVersionInternal}
	codec, _, err := serverstorage.NewStorageCodec(serverstorage.StorageCodecConfig{
		StorageMediaType: runtime.ContentTypeProtobuf, StorageSerializer: codecs, StorageVersion: version, MemoryVersion: internal,
	})
	fixture.Must(err)
	into, err := scheme.New(internal.WithKind(kind.Kind))
	fixture.Must(err)
	if _, _, err := codec.Decode(stored, nil, into); err != nil {
		return nil, err
	}
	plain := jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, scheme, scheme, jsonserializer.SerializerOptions{})
	encoder := codecs.EncoderForVersion(plain, runtime.NewMultiGroupVersioner(version, schema.GroupKind{Group: version.Group}))
	var object bytes.Buffer
	err = encoder.Encode(into, &object)
	return bytes.TrimSpace(object.Bytes()), err
}
