package coxswaintest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
)

const installPath = "/testing/install"

// InstalledObject is an object of an [Installation].
type InstalledObject struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	// Created is false if the object existed before: it was changed then, and stays when the others are removed.
	Created bool `json:"created"`
}

// Installation is what was installed together.
type Installation struct {
	// Objects are in the order in which they were installed.
	Objects []InstalledObject

	server    *Server
	name      string
	isRemoved bool
}

// Install installs objects until the test is complete: definitions of custom resources first, whose kinds are then served,
// then namespaces, then the others. An object that exists is changed as by a forced server-side apply. All objects are
// installed or none, and then the test ends. Configurations of webhooks are for [WebhookServing.Register].
func (s *Server) Install(t testing.TB, manifests Manifests) *Installation {
	t.Helper()
	installation, err := s.OpenInstallation(context.Background(), manifests)
	if err != nil {
		t.Fatalf("coxswaintest: %v", err)
	}
	t.Cleanup(func() {
		if err := installation.Remove(context.Background()); err != nil {
			t.Errorf("coxswaintest: %v", err)
		}
	})
	return installation
}

// OpenInstallation installs objects as [Server.Install] does, until they are removed or the server ends, for TestMain.
func (s *Server) OpenInstallation(ctx context.Context, manifests Manifests) (*Installation, error) {
	stream, err := manifests.read()
	if err != nil {
		return nil, err
	}
	path := installPath
	if manifests.Namespace != "" {
		path += "?namespace=" + url.QueryEscape(manifests.Namespace)
	}
	answer, err := s.sendBytes(ctx, http.MethodPost, path, stream, "application/yaml", "application/json")
	if err != nil {
		return nil, err
	}
	var added struct {
		Name    string
		Objects []InstalledObject
	}
	if err := json.Unmarshal(answer, &added); err != nil {
		return nil, err
	}
	return &Installation{Objects: added.Objects, server: s, name: added.Name}, nil
}

// Remove deletes the objects that were created, the last one first, and waits until they are gone. Removing them again
// does nothing.
func (i *Installation) Remove(ctx context.Context) error {
	if i.isRemoved {
		return nil
	}
	i.isRemoved = true
	return i.server.call(ctx, http.MethodDelete, installPath+"/"+i.name, nil, nil)
}
