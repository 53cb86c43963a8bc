package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

const finalizer = "boats.example.com/harbour"

// Starts a manager and waits until it is elected and its caches are filled. The returned function
// stops it.
func runManager(config *rest.Config, scheme *runtime.Scheme, hooks envtest.WebhookInstallOptions) func() {
	metricsAddress = freeAddress()
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Metrics:                       server.Options{BindAddress: metricsAddress, SecureServing: true, FilterProvider: filters.WithAuthenticationAndAuthorization},
		LeaderElection:                true,
		LeaderElectionID:              "harbour",
		LeaderElectionNamespace:       "default",
		LeaderElectionReleaseOnCancel: true,
		WebhookServer:                 webhook.NewServer(webhook.Options{Host: hooks.LocalServingHost, Port: hooks.LocalServingPort, CertDir: hooks.LocalServingCertDir}),
	})
	must(err)
	must(ctrl.NewWebhookManagedBy(manager, &Boat{}).Complete())
	must(manager.GetFieldIndexer().IndexField(background, &Boat{}, "spec.color", func(object client.Object) []string {
		return []string{object.(*Boat).Spec.Color}
	}))
	harbour := &harbour{api: manager.GetClient(), events: manager.GetEventRecorder("harbour")}
	builder := ctrl.NewControllerManagedBy(manager).For(&Boat{}).Owns(&corev1.ConfigMap{})
	must(builder.Complete(harbour))
	cached = manager.GetClient()

	stopping, stop := context.WithCancel(background)
	stopped := make(chan error, 1)
	go func() { stopped <- manager.Start(stopping) }()
	<-manager.Elected()
	if !manager.GetCache().WaitForCacheSync(background) {
		panic("caches were not filled")
	}
	must(eventually("the webhook is served", func() (bool, error) {
		err := manager.GetWebhookServer().StartedChecker()(nil)
		return err == nil, err
	}))
	return func() {
		stop()
		report("the manager stops", <-stopped)
	}
}

// The client of the manager, which reads from its caches.
var cached client.Client

// Reconciles boats: creates a ConfigMap with the crew, sets a condition, records events, and holds
// a deleted boat by a finalizer until it has left.
type harbour struct {
	api    client.Client
	events events.EventRecorder
}

func (harbour *harbour) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	boat := &Boat{}
	if err := harbour.api.Get(ctx, request.NamespacedName, boat); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if boat.Labels["moored"] != "yes" {
		return ctrl.Result{}, nil
	}
	if !boat.DeletionTimestamp.IsZero() {
		if controllerutil.RemoveFinalizer(boat, finalizer) {
			harbour.events.Eventf(boat, nil, corev1.EventTypeNormal, "Left", "Leave", "%s has left", boat.Name)
			return ctrl.Result{}, client.IgnoreNotFound(harbour.api.Update(ctx, boat))
		}
		return ctrl.Result{}, nil
	}
	before := boat.DeepCopyObject().(*Boat)
	if controllerutil.AddFinalizer(boat, finalizer) {
		if err := harbour.api.Patch(ctx, boat, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return ctrl.Result{}, err
		}
	}
	list := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: boat.Name + "-crew", Namespace: boat.Namespace}}
	done, err := controllerutil.CreateOrUpdate(ctx, harbour.api, list, func() error {
		list.Data = map[string]string{"crew": fmt.Sprint(boat.Spec.Crew)}
		return controllerutil.SetControllerReference(boat, list, harbour.api.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	if done != controllerutil.OperationResultNone {
		harbour.events.Eventf(boat, list, corev1.EventTypeNormal, "Listed", "List", "crew %s", done)
	}
	before = boat.DeepCopyObject().(*Boat)
	boat.Status.Aboard = int32(len(boat.Spec.Crew))
	boat.Status.Selector = "boat=" + boat.Name
	condition := metav1.Condition{Type: "Moored", Status: "True", Reason: "Listed", Message: "its crew is known", ObservedGeneration: boat.Generation}
	meta.SetStatusCondition(&boat.Status.Conditions, condition)
	return ctrl.Result{}, harbour.api.Status().Patch(ctx, boat, client.MergeFrom(before))
}
