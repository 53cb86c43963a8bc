package coxswaintest_test

import (
	"log"
	"os"
	"testing"

	coxswaintest "coxswain/kit/go"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

var shared *coxswaintest.Server

func TestMain(m *testing.M) {
	server, err := coxswaintest.Open(coxswaintest.WithFlags("--controllers=namespace"))
	if err != nil {
		log.Fatal(err)
	}
	shared = server
	code := m.Run()
	if err := server.Close(); err != nil {
		log.Fatal(err)
	}
	os.Exit(code)
}

func TestCreate(t *testing.T) {
	t.Parallel()
	maps := kubernetes.NewForConfigOrDie(shared.Config).CoreV1().ConfigMaps(shared.Namespace(t))
	if _, err := maps.Create(t.Context(), configMap("a"), metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}
