package main

import (
	"fmt"
	"io"
	"strings"

	"k8s.io/apiserver/pkg/admission"
	psadmission "k8s.io/pod-security-admission/admission"
	configuration "k8s.io/pod-security-admission/admission/api"
	"k8s.io/pod-security-admission/admission/api/load"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/metrics"
	"k8s.io/pod-security-admission/policy"

	"coxswain/tools/golden/internal/fixture"
)

const plugin = "PodSecurity"

type configurationRow struct {
	What          string                                  `json:"what"`
	File          string                                  `json:"file"`
	Configuration *configuration.PodSecurityConfiguration `json:"configuration,omitempty"`
	Error         string                                  `json:"error,omitempty"`
}

// recordConfigurations reads each file as kube-apiserver does when it creates the plugin.
func recordConfigurations() {
	for row := range fixture.Rows[configurationRow]() {
		row.Configuration, row.Error = nil, ""
		plugins := admission.NewPlugins()
		handler := &configured{Handler: admission.NewHandler()}
		plugins.Register(plugin, func(reader io.Reader) (admission.Interface, error) {
			var err error
			handler.delegate.Configuration, err = load.LoadFromReader(reader)
			return handler, err
		})
		if _, err := plugins.InitPlugin(plugin, strings.NewReader(row.File), admission.PluginInitializers{}); err != nil {
			row.Error = err.Error()
		} else {
			row.Configuration = handler.delegate.Configuration
		}
		fixture.Write(row)
	}
}

type configured struct {
	*admission.Handler
	delegate psadmission.Admission
}

// ValidateInitialization has the steps and messages of the plugin in k8s.io/kubernetes/plugin/pkg/admission/security/podsecurity.
func (c *configured) ValidateInitialization() error {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	fixture.Must(err)
	c.delegate.Evaluator = evaluator
	c.delegate.Metrics = metrics.NewPrometheusRecorder(api.MajorMinorVersion(1, newestMinor))
	c.delegate.NamespaceGetter = psadmission.NamespaceGetterFromClient(nil)
	c.delegate.PodLister = psadmission.PodListerFromClient(nil)
	if err := c.delegate.CompleteConfiguration(); err != nil {
		return fmt.Errorf("%s configuration error: %w", plugin, err)
	}
	if err := c.delegate.ValidateConfiguration(); err != nil {
		return fmt.Errorf("%s invalid: %w", plugin, err)
	}
	return nil
}
