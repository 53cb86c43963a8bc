package coxswaintest_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	coxswaintest "coxswain/kit/go"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func TestClientGo(t *testing.T) {
	server := coxswaintest.Start(t)
	client := kubernetes.NewForConfigOrDie(server.Config)
	namespace := server.Namespace(t)
	if !strings.HasPrefix(namespace, "testclientgo-") {
		t.Errorf("the namespace is %s", namespace)
	}
	maps := client.CoreV1().ConfigMaps(namespace)
	watch, err := maps.Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=a"})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	if _, err := maps.Create(t.Context(), configMap("a"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if event := <-watch.ResultChan(); event.Object.(*corev1.ConfigMap).Name != "a" {
		t.Errorf("the first event is %v", event)
	}
	if _, err := maps.Create(t.Context(), configMap("Not_Valid"), metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("a name that is not valid: %v", err)
	}
}

// test records what the kit does with a test.
type test struct {
	testing.TB
	failed   bool
	log      strings.Builder
	cleanups []func()
}

func (t *test) Helper()                    {}
func (t *test) Name() string               { return "TestOf/the kit" }
func (t *test) Failed() bool               { return t.failed }
func (t *test) Cleanup(f func())           { t.cleanups = append(t.cleanups, f) }
func (t *test) Logf(f string, args ...any) { fmt.Fprintf(&t.log, f+"\n", args...) }
func (t *test) Errorf(f string, args ...any) {
	t.failed = true
	t.Logf(f, args...)
}

func (t *test) end() string {
	for i := len(t.cleanups) - 1; i >= 0; i-- {
		t.cleanups[i]()
	}
	return t.log.String()
}

func TestTimelineOfAFailedTest(t *testing.T) {
	server := coxswaintest.Start(t)
	client := kubernetes.NewForConfigOrDie(server.Config)
	for _, failed := range []bool{true, false} {
		if _, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "before", metav1.GetOptions{}); err == nil {
			t.Fatal("it exists")
		}
		of := &test{TB: t, failed: failed}
		namespace := server.Namespace(of)
		if _, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), configMap("a"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		log := of.end()
		if strings.Contains(log, "configmaps") != failed || strings.Contains(log, "before") {
			t.Errorf("failed is %v, and the log is: %s", failed, log)
		}
		deleted, err := client.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
		if err == nil && deleted.DeletionTimestamp == nil {
			t.Errorf("the namespace %s is not deleted", namespace)
		}
	}
}

func TestTheServerEnds(t *testing.T) {
	of := &test{TB: t}
	server := coxswaintest.Start(of)
	if log := of.end(); log != "" {
		t.Errorf("the end logs %s", log)
	}
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if connection, err := net.DialTimeout("tcp", address.Host, time.Second); err == nil {
		connection.Close()
		t.Error("the server accepts a connection")
	}
	if _, err := os.Stat(server.Kubeconfig); !os.IsNotExist(err) {
		t.Errorf("the kubeconfig: %v", err)
	}
}

func TestErrorsOfAStart(t *testing.T) {
	rows := []struct {
		title    string
		option   coxswaintest.Option
		expected string
	}{
		{"no program", coxswaintest.WithProgram("/nothing"), "coxswain is not found by coxswaintest.WithProgram: "},
		{"another program", coxswaintest.WithProgram("true"), "did not start a server: "},
		{"an unknown flag", coxswaintest.WithFlags("--secure-prot=1"), "Error: unknown option '--secure-prot=1' (did you mean --secure-port?)"},
	}
	for _, row := range rows {
		t.Run(row.title, func(t *testing.T) {
			_, err := coxswaintest.Open(row.option)
			if err == nil || !strings.Contains(err.Error(), row.expected) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func ExampleOpen() {
	server, err := coxswaintest.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	client := kubernetes.NewForConfigOrDie(server.Config)
	namespace, err := client.CoreV1().Namespaces().Get(context.Background(), "default", metav1.GetOptions{})
	fmt.Println(namespace.Name, err)
	// Output: default <nil>
}

// fatal records why a test would end.
type fatal struct {
	testing.TB
	message string
}

func (f *fatal) Helper() {}
func (f *fatal) Fatalf(format string, args ...any) {
	f.message = fmt.Sprintf(format, args...)
	panic(f.message)
}
