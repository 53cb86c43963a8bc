package coxswaintest

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Server is a running server.
type Server struct {
	// URL is the address of the server, such as https://127.0.0.1:40123.
	URL string
	// Kubeconfig is the path of a file whose user is in the group system:masters. It is removed at the end.
	Kubeconfig string
	// Config is for clients of the same user. It does not limit the rate of requests.
	Config *rest.Config

	process *process
	http    *http.Client
	// snapshots counts those that were taken, for their names.
	snapshots atomic.Int64
	// owner is the test of Start, whose log has the whole timeline.
	owner testing.TB
}

// Start starts a server for a test, and closes it when the test and its subtests are complete. If the test fails, its
// log ends with the timeline. A server that does not start ends the test.
func Start(t testing.TB, opts ...Option) *Server {
	t.Helper()
	server, err := Open(opts...)
	if err != nil {
		t.Fatalf("coxswaintest: %v", err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("coxswaintest: %v", err)
		}
	})
	server.logTimelineSince(t, 0)
	server.owner = t
	return server
}

// Open starts a server that several tests share, for TestMain. The caller closes it.
func Open(opts ...Option) (*Server, error) {
	var o options
	for _, apply := range opts {
		apply(&o)
	}
	process, err := startProcess(o)
	if err != nil {
		return nil, err
	}
	server, err := connect(process)
	if err != nil {
		_ = process.stop()
		return nil, err
	}
	return server, nil
}

func connect(p *process) (*Server, error) {
	config, err := clientcmd.BuildConfigFromFlags("", p.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of the server: %w", err)
	}
	config.QPS = -1
	own := rest.CopyConfig(config)
	own.UserAgent = "coxswaintest"
	client, err := rest.HTTPClientFor(own)
	if err != nil {
		return nil, err
	}
	return &Server{URL: p.URL, Kubeconfig: p.Kubeconfig, Config: config, process: p, http: client}, nil
}

// Close ends the server. Open requests of clients are finished, and their watches end.
func (s *Server) Close() error {
	s.http.CloseIdleConnections()
	if err := s.process.stop(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(s.process.stderr.String()))
	}
	return nil
}
