package websites

import (
	"context"
	"fmt"
	"strings"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Validator rejects websites whose image can change.
type Validator struct{}

// SetupWithManager adds the webhook to the webhook server of the manager.
func (v Validator) SetupWithManager(manager ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(manager, &Website{}).WithValidator(v).Complete()
}

// ValidateCreate checks a new website.
func (Validator) ValidateCreate(_ context.Context, website *Website) (admission.Warnings, error) {
	return nil, checkImage(website.Spec.Image)
}

// ValidateUpdate checks a changed website.
func (Validator) ValidateUpdate(_ context.Context, _, website *Website) (admission.Warnings, error) {
	return nil, checkImage(website.Spec.Image)
}

// ValidateDelete allows all.
func (Validator) ValidateDelete(context.Context, *Website) (admission.Warnings, error) {
	return nil, nil
}

func checkImage(image string) error {
	name := image[strings.LastIndex(image, "/")+1:]
	_, tag, hasTag := strings.Cut(name, ":")
	if !hasTag || tag == "latest" {
		return fmt.Errorf("spec.image: %s needs a tag other than latest", image)
	}
	return nil
}
