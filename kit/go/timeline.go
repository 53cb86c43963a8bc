package coxswaintest

import (
	"context"
	"fmt"
	"net/http"
	"testing"
)

// loggedMax limits how many bytes of a timeline are logged; the newest are.
const loggedMax = 64 << 10

// Mark is a position in the timeline of a server.
type Mark int64

// Mark returns the current end of the timeline.
func (s *Server) Mark(ctx context.Context) (Mark, error) {
	var answer struct{ Mark Mark }
	err := s.call(ctx, http.MethodGet, timelinePath(1<<49), nil, &answer)
	return answer.Mark, err
}

// Timeline returns, as text, the requests of all clients since a mark, their results, and what they changed. The whole
// timeline is that since 0. Values of Secrets are not part of it.
func (s *Server) Timeline(ctx context.Context, since Mark) (string, error) {
	text, err := s.send(ctx, http.MethodGet, timelinePath(since), nil, "text/plain")
	return string(text), err
}

func timelinePath(since Mark) string {
	return fmt.Sprintf("/testing/timeline?since=%d", since)
}

// logTimelineSince logs the timeline if the test fails.
func (s *Server) logTimelineSince(t testing.TB, mark Mark) {
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		timeline, err := s.Timeline(context.Background(), mark)
		if err != nil {
			t.Logf("coxswaintest: no timeline: %v", err)
			return
		}
		if over := len(timeline) - loggedMax; over > 0 {
			timeline = fmt.Sprintf("(%d earlier bytes)\n%s", over, timeline[over:])
		}
		t.Logf("timeline of the server:\n%s", timeline)
	})
}
