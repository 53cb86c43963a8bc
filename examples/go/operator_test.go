package websites

import (
	"context"
	"log"
	"os"
	"strings"
	"testing"
	"time"

	coxswaintest "coxswain/kit/go"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// server is shared by the tests. Its time stops, except when a test advances it.
var server *coxswaintest.Server

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if server, err = coxswaintest.Open(coxswaintest.WithVirtualClock()); err != nil {
			log.Fatal(err)
		}
		defer server.Close()
		manifests := coxswaintest.Manifests{Paths: []string{"config/crd.yaml", "config/rbac.yaml"}}
		if _, err := server.OpenInstallation(context.Background(), manifests); err != nil {
			log.Fatal(err)
		}
		return m.Run()
	}())
}

// newClient returns a client of a user who is allowed everything.
func newClient(t *testing.T) client.Client {
	t.Helper()
	c, err := client.New(server.Config, client.Options{Scheme: NewScheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// startOperator runs the operator with the rights of its ServiceAccount, for the websites of a namespace.
func startOperator(t *testing.T, namespace string) {
	t.Helper()
	serving := server.WebhookServing(t)
	manager, err := ctrl.NewManager(server.AsServiceAccount(t, "website-operator", "operator"), ctrl.Options{
		Scheme:     NewScheme(),
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		Controller: config.Controller{SkipNameValidation: new(true)}, // Each test has a manager.
		Metrics:    metrics.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: serving.Host, Port: serving.Port, CertDir: serving.CertDir,
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := (&Reconciler{Client: manager.GetClient()}).SetupWithManager(manager); err != nil {
		t.Fatal(err)
	}
	if err := (Validator{}).SetupWithManager(manager); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { ended <- manager.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the manager: %v", err)
		}
	})
	serving.Register(t, coxswaintest.Manifests{Paths: []string{"config/webhook.yaml"}, Namespace: namespace})
}

func website(namespace, image string) *Website {
	return &Website{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shop"},
		Spec:       WebsiteSpec{Image: image, Replicas: 2},
	}
}

// eventually gets the object until the condition is met.
func eventually(t *testing.T, c client.Client, object client.Object, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		err := c.Get(ctx, client.ObjectKeyFromObject(object), object)
		if err == nil && condition() {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the object is %v (%v)", object, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func TestWebsiteRunsInADeployment(t *testing.T) {
	c, namespace := newClient(t), server.Namespace(t)
	startOperator(t, namespace)
	site := website(namespace, "shop:1")
	if err := c.Create(t.Context(), site); err != nil {
		t.Fatal(err)
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shop"}}
	eventually(t, c, deployment, func() bool { return true })
	if !metav1.IsControlledBy(deployment, site) || *deployment.Spec.Replicas != 2 {
		t.Errorf("the Deployment is %v", deployment)
	}
	// No kubelet runs the pods, so the test writes the status of the Deployment.
	deployment.Status = appsv1.DeploymentStatus{Replicas: 2, ReadyReplicas: 2}
	if err := c.Status().Update(t.Context(), deployment); err != nil {
		t.Fatal(err)
	}
	eventually(t, c, site, func() bool { return site.Status == WebsiteStatus{1, 2} })
}

func TestConflictOfTheStatus(t *testing.T) {
	c, namespace := newClient(t), server.Namespace(t)
	startOperator(t, namespace)
	match := coxswaintest.Match{
		Verb: "update", Resource: "websites", Subresource: "status", Namespace: namespace, Count: 2,
	}
	rule := server.AddFault(t, match, coxswaintest.Fault{Type: coxswaintest.Conflict})
	site := website(namespace, "shop:1")
	if err := c.Create(t.Context(), site); err != nil {
		t.Fatal(err)
	}
	eventually(t, c, site, func() bool { return site.Status.ObservedGeneration == 1 })
	if hits, err := rule.Hits(t.Context()); hits != 2 || err != nil {
		t.Errorf("%d conflicts (%v)", hits, err)
	}
}

func TestWebhookRejectsImagesThatCanChange(t *testing.T) {
	c, namespace := newClient(t), server.Namespace(t)
	startOperator(t, namespace)
	err := c.Create(t.Context(), website(namespace, "registry:5000/shop:latest"))
	if err == nil || !strings.Contains(err.Error(), "needs a tag other than latest") {
		t.Errorf("the error is %v", err)
	}
}

func TestPreviewsEnd(t *testing.T) {
	c, namespace := newClient(t), server.Namespace(t)
	site := website(namespace, "shop:1")
	site.Spec.LifetimeHours = 24
	if err := c.Create(t.Context(), site); err != nil {
		t.Fatal(err)
	}
	reconciler := &Reconciler{Client: c, Now: func() time.Time {
		now, err := server.Now(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return now
	}}
	reconcile := func() error {
		_, err := reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(site)})
		return err
	}
	steps := []struct {
		span   time.Duration
		exists bool
	}{{23 * time.Hour, true}, {2 * time.Hour, false}}
	for _, step := range steps {
		if err := server.Advance(t.Context(), step.span); err != nil {
			t.Fatal(err)
		}
		if err := reconcile(); err != nil {
			t.Fatal(err)
		}
		err := c.Get(t.Context(), client.ObjectKeyFromObject(site), &Website{})
		if apierrors.IsNotFound(err) == step.exists {
			t.Errorf("%s later: %v", step.span, err)
		}
	}
}
