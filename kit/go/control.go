package coxswaintest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

const answerBytesMax = 64 << 20

// call sends a request with a JSON body, and decodes the answer into result, unless that is nil.
func (s *Server) call(ctx context.Context, method, path string, body, result any) error {
	answer, err := s.send(ctx, method, path, body, "application/json")
	if err != nil || result == nil {
		return err
	}
	return json.Unmarshal(answer, result)
}

// send sends a request with a JSON body, and returns the body of its answer.
func (s *Server) send(ctx context.Context, method, path string, body any, accept string) ([]byte, error) {
	if body == nil {
		return s.sendBytes(ctx, method, path, nil, "", accept)
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return s.sendBytes(ctx, method, path, text, "application/json", accept)
}

// sendBytes sends a request, and returns the body of its answer. Other status codes than 2xx are errors.
func (s *Server) sendBytes(ctx context.Context, method, path string, body []byte, mediaType, accept string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, s.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", accept)
	if mediaType != "" {
		request.Header.Set("Content-Type", mediaType)
	}
	response, err := s.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, answerBytesMax))
	if err != nil {
		return nil, err
	}
	if response.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s %s: %s", method, path, problemOf(response.Status, answer))
	}
	return answer, nil
}

// problemOf is the message of a Status, or else the status code.
func problemOf(status string, answer []byte) string {
	var problem struct{ Message string }
	if json.Unmarshal(answer, &problem) == nil && problem.Message != "" {
		return problem.Message
	}
	return status
}
