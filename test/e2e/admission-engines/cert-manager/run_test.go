// Runs cert-manager's webhook, with a certificate authority that it stores in a Secret, and its
// cainjector, until the input ends. It is a test because cert-manager exports the start of the
// webhook for tests only.
//
//	go test -c -o PROGRAM . && PROGRAM -test.v KUBECONFIG
//
// Writes `webhook: URL` when the webhook listens.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"testing"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/cert-manager/cert-manager/pkg/controller/cainjector"
	webhook "github.com/cert-manager/cert-manager/test/webhook"
)

func TestRun(t *testing.T) {
	kubeconfig := flag.Arg(0)
	started, stopWebhook := webhook.StartWebhookServer(t, []string{
		"--kubeconfig=" + kubeconfig,
		"--dynamic-serving-ca-secret-namespace=cert-manager",
		"--dynamic-serving-ca-secret-name=cert-manager-webhook-ca",
		"--dynamic-serving-dns-names=cert-manager-webhook.cert-manager.svc",
	})
	injecting, stopInjector := context.WithCancel(context.Background())
	injected := make(chan error, 1)
	go func() { injected <- injectBundles(injecting, kubeconfig) }()
	fmt.Printf("webhook: %s\n", started.URL)

	_, _ = io.Copy(io.Discard, os.Stdin)
	stopInjector()
	if err := <-injected; err != nil {
		t.Error(err)
	}
	stopWebhook()
}

func injectBundles(ctx context.Context, kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.UserAgent = "cert-manager-cainjector" // The field manager.
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, admissionregistration.AddToScheme, apiextensions.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	err = cainjector.RegisterAllInjectors(ctx, manager, cainjector.SetupOptions{EnabledReconcilersFor: map[string]bool{
		cainjector.MutatingWebhookConfigurationName:   true,
		cainjector.ValidatingWebhookConfigurationName: true,
		cainjector.CustomResourceDefinitionName:       true,
	}})
	if err != nil {
		return err
	}
	return manager.Start(ctx)
}
