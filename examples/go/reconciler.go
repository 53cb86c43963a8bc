package websites

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const fieldManager = client.FieldOwner("website-operator")

// Reconciler brings websites closer to their desired state.
type Reconciler struct {
	client.Client
	// Now returns the time; the clock of the machine if it is nil.
	Now func() time.Time
	// SaveStatus saves a website whose status has changed; [SaveStatus] if it is nil.
	SaveStatus func(context.Context, client.Client, *Website) error
}

// SetupWithManager starts the reconciler with the manager.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).For(&Website{}).Owns(&appsv1.Deployment{}).Complete(r)
}

// Reconcile deletes a website whose lifetime is over. Of others, it applies the Deployment and reports the state.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var website Website
	if err := r.Get(ctx, request.NamespacedName, &website); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if website.DeletionTimestamp != nil {
		return ctrl.Result{}, nil // Garbage collection deletes the Deployment.
	}
	remaining, isPreview := r.remainingTime(&website)
	if isPreview && remaining <= 0 {
		return ctrl.Result{}, r.Delete(ctx, &website, client.Preconditions{UID: &website.UID})
	}
	if err := r.Apply(ctx, deploymentOf(&website), fieldManager, client.ForceOwnership); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: remaining}, r.report(ctx, &website)
}

func (r *Reconciler) remainingTime(website *Website) (remaining time.Duration, isPreview bool) {
	if website.Spec.LifetimeHours == 0 {
		return 0, false
	}
	now := time.Now
	if r.Now != nil {
		now = r.Now
	}
	end := website.CreationTimestamp.Add(time.Duration(website.Spec.LifetimeHours) * time.Hour)
	return end.Sub(now()), true
}

func (r *Reconciler) report(ctx context.Context, website *Website) error {
	var deployment appsv1.Deployment
	if err := r.Get(ctx, client.ObjectKeyFromObject(website), &deployment); err != nil {
		return client.IgnoreNotFound(err) // The cache does not have it yet: its event reconciles again.
	}
	status := WebsiteStatus{ObservedGeneration: website.Generation, ReadyReplicas: deployment.Status.ReadyReplicas}
	if website.Status == status {
		return nil
	}
	website.Status = status
	save := SaveStatus
	if r.SaveStatus != nil {
		save = r.SaveStatus
	}
	return save(ctx, r.Client, website)
}

// SaveStatus updates the status, which is a subresource.
func SaveStatus(ctx context.Context, c client.Client, website *Website) error {
	return c.Status().Update(ctx, website)
}

func deploymentOf(website *Website) *appsapply.DeploymentApplyConfiguration {
	labels := map[string]string{"website": website.Name}
	owner := metav1.NewControllerRef(website, GroupVersion.WithKind("Website"))
	return appsapply.Deployment(website.Name, website.Namespace).
		WithOwnerReferences(metaapply.OwnerReference().
			WithAPIVersion(owner.APIVersion).WithKind(owner.Kind).
			WithName(owner.Name).WithUID(owner.UID).WithController(true)).
		WithSpec(appsapply.DeploymentSpec().
			WithReplicas(website.Spec.Replicas).
			WithSelector(metaapply.LabelSelector().WithMatchLabels(labels)).
			WithTemplate(coreapply.PodTemplateSpec().WithLabels(labels).WithSpec(coreapply.PodSpec().
				WithContainers(coreapply.Container().WithName("web").WithImage(website.Spec.Image)))))
}
