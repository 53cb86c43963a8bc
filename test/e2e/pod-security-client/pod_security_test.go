// Package podsecurity runs the tests that upstream publishes for servers with Pod Security admission.
package podsecurity

import (
	"os"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/pod-security-admission/test"
)

// TestPodSecurity creates pods and deployments that pass and violate each check at each level and version, on the server of KUBECONFIG.
func TestPodSecurity(t *testing.T) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1 // No limit of the client.
	test.Run(t, test.Options{ClientConfig: config})
}
