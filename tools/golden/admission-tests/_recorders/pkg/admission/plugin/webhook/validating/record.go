package validating

import (
	"context"

	"k8s.io/apiserver/pkg/admission"
	webhooktesting "k8s.io/apiserver/pkg/admission/plugin/webhook/testing"
)

// Validate is recorded.
func (a *Plugin) Validate(ctx context.Context, attributes admission.Attributes, o admission.ObjectInterfaces) error {
	return webhooktesting.Record("validating", attributes, func() error { return a.ValidateUnrecorded(ctx, attributes, o) })
}
