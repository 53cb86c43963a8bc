// An operator built on controller-runtime: envtest installs the definition of boats and serves its
// conversion webhook, an elected manager with the permissions of a service account reconciles
// boats, and a client uses all of its verbs. Each line of output is a check and its result.
//
//	go run . [KUBECONFIG]
//
// Without a kubeconfig envtest starts a server from KUBEBUILDER_ASSETS.
package main

import (
	_ "embed"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

func main() {
	ctrl.SetLogger(logr.Discard())
	scheme := runtime.NewScheme()
	must(clientgoscheme.AddToScheme(scheme))
	addBoats(scheme)

	definition, err := os.CreateTemp("", "boats-*.yaml")
	must(err)
	_, err = definition.WriteString(definitionText)
	must(err)
	defer os.Remove(definition.Name())

	existing := len(os.Args) > 1
	environment := &envtest.Environment{
		UseExistingCluster:    &existing,
		Scheme:                scheme,
		CRDInstallOptions:     envtest.CRDInstallOptions{Paths: []string{definition.Name()}, Scheme: scheme, CleanUpAfterUse: true},
		ErrorIfCRDPathMissing: true,
	}
	environment.ControlPlane.GetAPIServer().Configure().Set("controllers", "garbagecollector")
	if existing {
		environment.Config, err = clientcmd.BuildConfigFromFlags("", os.Args[1])
		must(err)
	}
	config, err := environment.Start()
	report("envtest installs the definition", err)
	must(err)
	config.QPS, config.Burst = 1000, 1000
	adminConfig = config
	direct, err := client.New(config, client.Options{Scheme: scheme})
	must(err)
	account, err := operatorAccount(direct, config)
	report("a service account with the operator's permissions has a token", err)
	must(err)
	stopManager := runManager(account, scheme, environment.WebhookInstallOptions)
	for _, check := range checks {
		report(check.what, check.run(direct))
	}
	stopManager()
	report("envtest removes the definition", environment.Stop())
}

var adminConfig *rest.Config

//go:embed definition.yaml
var definitionText string

type check struct {
	what string
	run  func(client.Client) error
}

func report(what string, err error) {
	if err == nil {
		fmt.Printf("%s: well\n", what)
	} else {
		fmt.Printf("%s: %v\n", what, err)
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Repeats the check until it holds.
func eventually(what string, so func() (bool, error)) error {
	var last error
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		yes, err := so()
		if yes && err == nil {
			return nil
		}
		last = err
	}
	return fmt.Errorf("never: %s (%v)", what, last)
}

func namespace(api client.Client, name string) error {
	space := &corev1.Namespace{}
	space.Name = name
	return client.IgnoreAlreadyExists(api.Create(background, space))
}
