package coxswaintest

import (
	"context"
	"net/http"
	"time"
)

const clockPath = "/testing/clock"

// WithVirtualClock stops the time of the server until [Server.Advance] moves it.
func WithVirtualClock() Option {
	return WithFlags("--virtual-clock")
}

// Now returns the time of the server.
func (s *Server) Now(ctx context.Context) (time.Time, error) {
	var clock struct{ Now time.Time }
	err := s.call(ctx, http.MethodGet, clockPath, nil, &clock)
	return clock.Now, err
}

// Advance moves the time of a server that was started [WithVirtualClock], by whole milliseconds. When it returns, the
// server has done what was due until then, such as deleting Events whose time is over. A day takes seconds.
func (s *Server) Advance(ctx context.Context, d time.Duration) error {
	return s.call(ctx, http.MethodPost, clockPath, map[string]string{"advance": d.String()}, nil)
}
