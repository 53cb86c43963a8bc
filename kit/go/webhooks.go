package coxswaintest

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

const webhooksPath = "/testing/webhooks"

// WebhookServing is where a webhook server of a test listens, and the folder with its certificate. Options of a
// webhook.Server of controller-runtime have the same fields.
type WebhookServing struct {
	// Host is an address of this machine.
	Host string
	// Port was free.
	Port int
	// CertDir has the files tls.crt and tls.key, and the certificate of their authority in ca.crt.
	CertDir string

	server *Server
}

// WebhookServing issues a certificate for a webhook server of the test.
func (s *Server) WebhookServing(t testing.TB) WebhookServing {
	t.Helper()
	serving := WebhookServing{Host: "127.0.0.1", CertDir: t.TempDir(), server: s}
	if err := serving.prepare(context.Background()); err != nil {
		t.Fatalf("coxswaintest: %v", err)
	}
	return serving
}

func (w *WebhookServing) prepare(ctx context.Context) error {
	var issued struct{ Certificate, Key, CA string }
	body := map[string]any{"hosts": []string{w.Host, "localhost"}}
	if err := w.server.call(ctx, http.MethodPost, "/testing/certificates", body, &issued); err != nil {
		return err
	}
	for name, text := range map[string]string{"tls.crt": issued.Certificate, "tls.key": issued.Key, "ca.crt": issued.CA} {
		if err := os.WriteFile(filepath.Join(w.CertDir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(w.Host, "0"))
	if err != nil {
		return err
	}
	w.Port = listener.Addr().(*net.TCPAddr).Port
	return listener.Close()
}

// Register makes the server call the webhooks of manifests until the test is complete, each at the path that its
// clientConfig has: those of ValidatingWebhookConfigurations and MutatingWebhookConfigurations, and the conversions of
// CustomResourceDefinitions that are installed. Other objects are ignored. It waits until the webhook server listens. A
// namespace of the manifests limits admission to its objects.
func (w WebhookServing) Register(t testing.TB, manifests Manifests) {
	t.Helper()
	objects, err := manifests.decode()
	if err != nil {
		t.Fatalf("coxswaintest: %v", err)
	}
	base := "https://" + net.JoinHostPort(w.Host, strconv.Itoa(w.Port))
	count := 0
	for _, object := range objects {
		webhooks, err := webhooksOf(object)
		if err != nil {
			t.Fatalf("coxswaintest: %v", err)
		}
		for _, webhook := range webhooks {
			w.server.register(t, webhook.spec(manifests.Namespace), base+webhook.path)
			count++
		}
	}
	if count == 0 {
		t.Fatalf("coxswaintest: there is no webhook in the manifests")
	}
}

// register adds a webhook at a URL until the test is complete.
func (s *Server) register(t testing.TB, spec map[string]any, url string) {
	t.Helper()
	spec["url"] = url
	var added struct{ Name string }
	if err := s.call(context.Background(), http.MethodPost, webhooksPath, spec, &added); err != nil {
		t.Fatalf("coxswaintest: %v", err)
	}
	t.Cleanup(func() {
		if err := s.call(context.Background(), http.MethodDelete, webhooksPath+"/"+added.Name, nil, nil); err != nil {
			t.Errorf("coxswaintest: %v", err)
		}
	})
}

// webhook is an entry of a configuration, or the conversion of a definition.
type webhook struct {
	kind  string
	entry map[string]any
	// path is that of its clientConfig.
	path string
}

// spec is what the control of the server accepts.
func (w webhook) spec(namespace string) map[string]any {
	if namespace != "" && w.kind != "conversion" {
		w.entry["namespace"] = namespace
	}
	return map[string]any{w.kind: w.entry}
}

// manifest is the part of an object that has webhooks.
type manifest struct {
	Kind     string
	Metadata struct{ Name string }
	Webhooks []map[string]any
	Spec     struct {
		Conversion struct {
			Webhook *struct {
				ClientConfig             clientConfig `json:"clientConfig"`
				ConversionReviewVersions []string     `json:"conversionReviewVersions"`
			}
		}
	}
}

type clientConfig struct {
	URL     string
	Service struct{ Path string }
}

// webhooksOf returns the webhooks of an object of a manifest.
func webhooksOf(object map[string]any) ([]webhook, error) {
	var parsed manifest
	if err := convert(object, &parsed); err != nil {
		return nil, fmt.Errorf("a %v is not valid: %w", object["kind"], err)
	}
	kinds := map[string]string{"ValidatingWebhookConfiguration": "validating", "MutatingWebhookConfiguration": "mutating"}
	conversion := parsed.Spec.Conversion.Webhook
	if kind, isAdmission := kinds[parsed.Kind]; isAdmission {
		return entriesOf(kind, parsed.Webhooks)
	}
	if parsed.Kind == "CustomResourceDefinition" && conversion != nil {
		entry := map[string]any{
			"definition":               parsed.Metadata.Name,
			"conversionReviewVersions": conversion.ConversionReviewVersions,
		}
		return []webhook{{"conversion", entry, conversion.ClientConfig.Service.Path}}, nil
	}
	return nil, nil
}

func entriesOf(kind string, entries []map[string]any) ([]webhook, error) {
	var webhooks []webhook
	for _, entry := range entries {
		var config clientConfig
		if err := convert(entry["clientConfig"], &config); err != nil {
			return nil, fmt.Errorf("the clientConfig of the webhook %v is not valid: %w", entry["name"], err)
		}
		delete(entry, "clientConfig")
		webhooks = append(webhooks, webhook{kind, entry, config.Service.Path})
	}
	return webhooks, nil
}

// convert converts a value with its encoding as JSON.
func convert(from, to any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}
