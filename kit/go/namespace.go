package coxswaintest

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

const prefixMax = 40

// Namespace creates a namespace for a test and deletes it when the test is complete. The objects in it are deleted in
// the background. If the test fails, its log ends with the timeline since this call.
func (s *Server) Namespace(t testing.TB) string {
	t.Helper()
	mark, err := s.Mark(context.Background())
	if err != nil {
		t.Fatalf("coxswaintest: %v", err)
	}
	prefix := notInNames.ReplaceAllString(strings.ToLower(t.Name()), "-")
	prefix = strings.Trim(prefix[:min(len(prefix), prefixMax)], "-")
	var created struct {
		Metadata struct{ Name string }
	}
	body := map[string]any{"metadata": map[string]any{"generateName": prefix + "-"}}
	if err := s.call(context.Background(), http.MethodPost, "/api/v1/namespaces", body, &created); err != nil {
		t.Fatalf("coxswaintest: creating a namespace: %v", err)
	}
	name := created.Metadata.Name
	t.Cleanup(func() {
		if err := s.call(context.Background(), http.MethodDelete, "/api/v1/namespaces/"+name, nil, nil); err != nil {
			t.Errorf("coxswaintest: deleting the namespace %s: %v", name, err)
		}
	})
	if t != s.owner {
		s.logTimelineSince(t, mark)
	}
	return name
}
