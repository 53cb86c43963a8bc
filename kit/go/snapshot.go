package coxswaintest

import (
	"context"
	"fmt"
	"net/http"
)

const snapshotsPath = "/testing/snapshots"

// Snapshot is a state of the objects of a server.
type Snapshot struct {
	// ResourceVersion is that of the newest change in it.
	ResourceVersion string

	server *Server
	path   string
}

// Snapshot takes a snapshot of all objects. A server keeps at most 100.
func (s *Server) Snapshot(ctx context.Context) (*Snapshot, error) {
	name := fmt.Sprintf("coxswaintest-%d", s.snapshots.Add(1))
	var taken struct {
		ResourceVersion string `json:"resourceVersion"`
	}
	if err := s.call(ctx, http.MethodPost, snapshotsPath, map[string]string{"name": name}, &taken); err != nil {
		return nil, err
	}
	return &Snapshot{taken.ResourceVersion, s, snapshotsPath + "/" + name}, nil
}

// Restore gives the server the objects of the snapshot. Watches end with the error 410, and clients list again.
func (s *Snapshot) Restore(ctx context.Context) error {
	return s.server.call(ctx, http.MethodPost, s.path+"/restore", nil, nil)
}

// Delete forgets the snapshot.
func (s *Snapshot) Delete(ctx context.Context) error {
	return s.server.call(ctx, http.MethodDelete, s.path, nil, nil)
}
