package testing

import (
	"bufio"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	registrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
)

// Webhooks are those of the current test.
var Webhooks any

// Answer is what a webhook answered to a request.
type Answer struct {
	Path   string `json:"path"`
	Status int    `json:"status,omitempty"`
	Type   string `json:"type,omitempty"`
	Body   string `json:"body,omitempty"`
	// Raw is written to the connection instead of a response.
	Raw string `json:"raw,omitempty"`
}

var (
	mutex   sync.Mutex
	answers []Answer
)

// Answers returns the answers since the last call.
func Answers() []Answer {
	mutex.Lock()
	defer mutex.Unlock()
	current := answers
	answers = nil
	return current
}

// NewFakeValidatingDataSource records the webhooks.
func NewFakeValidatingDataSource(
	name string, webhooks []registrationv1.ValidatingWebhook, stopCh <-chan struct{},
) (kubernetes.Interface, informers.SharedInformerFactory) {
	var copies []*registrationv1.ValidatingWebhook
	for _, webhook := range webhooks {
		one := webhook.DeepCopy()
		cleaned(&one.ClientConfig)
		copies = append(copies, one)
	}
	Webhooks = copies
	return NewFakeValidatingDataSourceUnrecorded(name, webhooks, stopCh)
}

// NewFakeMutatingDataSource records the webhooks.
func NewFakeMutatingDataSource(
	name string, webhooks []registrationv1.MutatingWebhook, stopCh <-chan struct{},
) (kubernetes.Interface, informers.SharedInformerFactory) {
	var copies []*registrationv1.MutatingWebhook
	for _, webhook := range webhooks {
		one := webhook.DeepCopy()
		cleaned(&one.ClientConfig)
		copies = append(copies, one)
	}
	Webhooks = copies
	return NewFakeMutatingDataSourceUnrecorded(name, webhooks, stopCh)
}

// cleaned removes what differs between recordings: the certificate and the port.
func cleaned(config *registrationv1.WebhookClientConfig) {
	config.CABundle = nil
	if config.URL == nil {
		return
	}
	if parsed, err := url.Parse(*config.URL); err == nil && parsed.Hostname() == "127.0.0.1" {
		parsed.Host = "webhook.test"
		text := parsed.String()
		config.URL = &text
	}
}

// NewTestServerWithHandler records the answers.
func NewTestServerWithHandler(t testing.TB, handler func(http.ResponseWriter, *http.Request)) *httptest.Server {
	return NewTestServerWithHandlerUnrecorded(t, func(w http.ResponseWriter, r *http.Request) {
		recorder := &responseRecorder{ResponseWriter: w, answer: Answer{Path: r.URL.Path, Status: http.StatusOK}}
		handler(recorder, r)
		recorder.answer.Type = w.Header().Get("Content-Type")
		mutex.Lock()
		defer mutex.Unlock()
		answers = append(answers, recorder.answer)
	})
}

type responseRecorder struct {
	http.ResponseWriter
	answer Answer
}

func (r *responseRecorder) WriteHeader(status int) {
	r.answer.Status = status
	r.ResponseWriter.WriteHeader(status)
}

func (r *responseRecorder) Write(body []byte) (int, error) {
	r.answer.Body += string(body)
	return r.ResponseWriter.Write(body)
}

// Hijack replaces the response by what is written to the connection.
func (r *responseRecorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	r.answer.Status = 0
	conn, buffer, err := r.ResponseWriter.(http.Hijacker).Hijack()
	return &rawRecorder{conn, &r.answer}, buffer, err
}

type rawRecorder struct {
	net.Conn
	answer *Answer
}

func (r *rawRecorder) Write(text []byte) (int, error) {
	r.answer.Raw += string(text)
	return r.Conn.Write(text)
}
