package mutating

import (
	"context"

	"k8s.io/apiserver/pkg/admission"
	webhooktesting "k8s.io/apiserver/pkg/admission/plugin/webhook/testing"
)

// Admit is recorded.
func (a *Plugin) Admit(ctx context.Context, attributes admission.Attributes, o admission.ObjectInterfaces) error {
	return webhooktesting.Record("mutating", attributes, func() error { return a.AdmitUnrecorded(ctx, attributes, o) })
}
