package coxswaintest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/util/yaml"
)

// Manifests are objects in files, or in a text.
type Manifests struct {
	// Paths are those of files, and of folders with .yaml, .yml and .json files. A file has any number of documents.
	Paths []string
	// Text is a further manifest, as YAML or JSON.
	Text string
	// Namespace is that of objects that need one and name none; default if it is empty.
	Namespace string
}

// manifestBytesMax is the limit of the server.
const manifestBytesMax = 16 << 20

// read returns all documents as one YAML stream.
func (m Manifests) read() ([]byte, error) {
	var stream bytes.Buffer
	add := func(text []byte) error {
		stream.WriteString("---\n")
		stream.Write(text)
		stream.WriteString("\n")
		if stream.Len() > manifestBytesMax {
			return fmt.Errorf("the manifests have more than %d MiB", manifestBytesMax>>20)
		}
		return nil
	}
	for _, path := range m.Paths {
		files, err := manifestFiles(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			if err := add(text); err != nil {
				return nil, err
			}
		}
	}
	if err := add([]byte(m.Text)); err != nil {
		return nil, err
	}
	return stream.Bytes(), nil
}

// manifestFiles returns the path of a file, or the manifests in a folder by name.
func manifestFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, entry := range entries {
		extension := filepath.Ext(entry.Name())
		if !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, extension) {
			files = append(files, filepath.Join(path, entry.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no .yaml, .yml or .json file", path)
	}
	return files, nil
}

// decode returns the objects.
func (m Manifests) decode() ([]map[string]any, error) {
	stream, err := m.read()
	if err != nil {
		return nil, err
	}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(stream), 4096)
	var objects []map[string]any
	for {
		var object map[string]any
		if err := decoder.Decode(&object); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		if object != nil {
			objects = append(objects, object)
		}
	}
}
