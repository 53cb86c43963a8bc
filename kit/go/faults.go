package coxswaintest

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
)

// Match selects requests. Empty fields match all. Texts match exactly, or by a pattern in which * matches any
// characters.
type Match struct {
	User        string `json:"user,omitempty"`
	UserAgent   string `json:"userAgent,omitempty"`
	Client      string `json:"client,omitempty"`
	Verb        string `json:"verb,omitempty"`
	Resource    string `json:"resource,omitempty"`
	Subresource string `json:"subresource,omitempty"`
	Namespace   string `json:"namespace,omitempty"`
	Name        string `json:"name,omitempty"`
	// After is the number of requests that are served as usual first.
	After int `json:"after,omitempty"`
	// Count is how often the fault happens; without a limit if it is 0.
	Count int `json:"count,omitempty"`
	// Probability is the share of requests for which the fault happens; all if it is 0.
	Probability float64 `json:"probability,omitempty"`
	// Seed is that of the random numbers for Probability.
	Seed int64 `json:"seed,omitempty"`
	// Optional is for a fault that need not happen. Otherwise, a test fails that ends before it has happened.
	Optional bool `json:"optional,omitempty"`
}

// Fault is what happens to a request. The other fields are for some types only.
type Fault struct {
	Type              FaultType `json:"type"`
	RetryAfterSeconds int       `json:"retryAfterSeconds,omitempty"`
	Message           string    `json:"message,omitempty"`
	Milliseconds      int       `json:"ms,omitempty"`
	When              string    `json:"when,omitempty"`
	Events            int       `json:"events,omitempty"`
	How               string    `json:"how,omitempty"`
	Which             string    `json:"which,omitempty"`
	Changes           int       `json:"changes,omitempty"`
}

// FaultType names a fault.
type FaultType string

const (
	Conflict            FaultType = "conflict"
	Gone                FaultType = "gone"
	TooManyRequests     FaultType = "tooManyRequests"
	InternalError       FaultType = "internalError"
	TimeoutBeforeCommit FaultType = "timeoutBeforeCommit"
	TimeoutAfterCommit  FaultType = "timeoutAfterCommit"
	Latency             FaultType = "latency"
	CutConnection       FaultType = "cutConnection"
	CutWatch            FaultType = "cutWatch"
	StallWatch          FaultType = "stallWatch"
	MissingBookmark     FaultType = "missingBookmark"
	StaleRead           FaultType = "staleRead"
)

// FaultRule makes requests fail until it is removed.
type FaultRule struct {
	server    *Server
	path      string
	isRemoved bool
}

// FaultState is a rule of a server, and how often its fault has happened.
type FaultState struct {
	ID    string `json:"id"`
	Match Match  `json:"match"`
	Fault Fault  `json:"fault"`
	Hits  int    `json:"hits"`
}

type faultStates struct {
	Rules []FaultState `json:"rules"`
}

const faultsPath = "/testing/faults"

// Faults returns the rules of the server, in the order in which they were added.
func (s *Server) Faults(ctx context.Context) ([]FaultState, error) {
	var states faultStates
	err := s.call(ctx, http.MethodGet, faultsPath, nil, &states)
	return states.Rules, err
}

// AddFault makes requests fail until the test is complete, or the rule is removed. The test fails if it is complete before
// the fault has happened.
func (s *Server) AddFault(t testing.TB, match Match, fault Fault) *FaultRule {
	t.Helper()
	body := map[string]any{"rules": []any{map[string]any{"match": match, "fault": fault}}}
	var added faultStates
	if err := s.call(context.Background(), http.MethodPost, faultsPath, body, &added); err != nil {
		t.Fatalf("coxswaintest: %v", err)
	}
	rule := &FaultRule{server: s, path: faultsPath + "/" + added.Rules[0].ID}
	t.Cleanup(func() {
		if rule.isRemoved {
			return
		}
		if hits, err := rule.remove(context.Background()); err != nil {
			t.Errorf("coxswaintest: %v", err)
		} else if hits == 0 && !match.Optional && !t.Failed() {
			requests, _ := json.Marshal(match) // It was sent as JSON before.
			t.Errorf("coxswaintest: the fault %s never happened, for %s; if that is right, set Optional", fault.Type, requests)
		}
	})
	return rule
}

// Hits returns how often the fault has happened, before the rule is removed.
func (r *FaultRule) Hits(ctx context.Context) (int, error) {
	var rule struct{ Hits int }
	err := r.server.call(ctx, http.MethodGet, r.path, nil, &rule)
	return rule.Hits, err
}

// Remove ends the rule. Removing it again does nothing.
func (r *FaultRule) Remove(ctx context.Context) error {
	if r.isRemoved {
		return nil
	}
	_, err := r.remove(ctx)
	return err
}

// remove ends the rule, and returns how often the fault has happened.
func (r *FaultRule) remove(ctx context.Context) (int, error) {
	r.isRemoved = true
	var removed struct{ Hits int }
	err := r.server.call(ctx, http.MethodDelete, r.path, nil, &removed)
	return removed.Hits, err
}
