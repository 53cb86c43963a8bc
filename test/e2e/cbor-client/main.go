// Uses client-go's dynamic client, which prefers CBOR if its feature gates are set in the
// environment. Prints failures and exits with 1 if there are any. With `cbor` all bodies and
// answers must be CBOR; with `fallback` the server does not support CBOR, and the client must
// continue in JSON.
//
//	KUBE_FEATURE_ClientsAllowCBOR=true KUBE_FEATURE_ClientsPreferCBOR=true go run . KUBECONFIG cbor|fallback
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const namespace = "default"

var (
	secrets     = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	failures    []string
)

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	must(err)
	wire := &recorder{types: map[string]bool{}}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		wire.next = next
		return wire
	})
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	client := dynamic.NewForConfigOrDie(rest.CopyConfig(config))
	if os.Args[2] == "fallback" {
		_, err := client.Resource(secrets).Namespace(namespace).Create(ctx, secret("first"), metav1.CreateOptions{})
		check(errors.IsUnsupportedMediaType(err), "the first body in CBOR is not rejected: %v", err)
	}
	objects(ctx, client)
	large(ctx, client)
	if os.Args[2] == "cbor" {
		check(!wire.has("json"), "a body or an answer was JSON: %v", wire.types)
		check(wire.has("application/cbor-seq"), "no watch was CBOR: %v", wire.types)
		check(wire.has("application/apply-patch+cbor"), "no apply was CBOR: %v", wire.types)
	}
	for _, failure := range failures {
		fmt.Println(failure)
	}
	if len(failures) > 0 {
		os.Exit(1)
	}
	fmt.Println("all well")
}

func secret(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]interface{}{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]interface{}{"name": name}, "data": map[string]interface{}{"k": "aGk="},
	}}
}

// Every verb on one object, and a watch that sees all changes.
func objects(ctx context.Context, client dynamic.Interface) {
	on := client.Resource(secrets).Namespace(namespace)
	watcher, err := on.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=one"})
	must(err)
	defer watcher.Stop()
	created, err := on.Create(ctx, secret("one"), metav1.CreateOptions{})
	must(err)
	data, _, _ := unstructured.NestedString(created.Object, "data", "k")
	check(data == "aGk=", "bytes came back as %q", data)
	must(unstructured.SetNestedField(created.Object, "d29ybGQ=", "data", "k"))
	_, err = on.Update(ctx, created, metav1.UpdateOptions{})
	must(err)
	applied := secret("one")
	must(unstructured.SetNestedField(applied.Object, "YXBwbGllZA==", "data", "other"))
	unstructured.RemoveNestedField(applied.Object, "data", "k")
	both, err := on.Apply(ctx, "one", applied, metav1.ApplyOptions{FieldManager: "m"})
	if errors.IsUnsupportedMediaType(err) && os.Args[2] == "fallback" {
		// The client does not fall back for applies.
		body, problem := applied.MarshalJSON()
		must(problem)
		both, err = on.Patch(ctx, "one", types.ApplyYAMLPatchType, body, metav1.PatchOptions{FieldManager: "m"})
	}
	must(err)
	values, _, _ := unstructured.NestedStringMap(both.Object, "data")
	check(values["k"] == "d29ybGQ=" && values["other"] == "YXBwbGllZA==", "applied: %v", values)
	got, err := on.Get(ctx, "one", metav1.GetOptions{})
	must(err)
	check(got.GetResourceVersion() == both.GetResourceVersion(), "got another resourceVersion")
	list, err := on.List(ctx, metav1.ListOptions{})
	must(err)
	check(len(list.Items) >= 1 && list.Items[0].GetKind() == "Secret", "list: %v", list.Object)
	must(on.Delete(ctx, "one", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: uidOf(got)}}))
	_, err = on.Get(ctx, "one", metav1.GetOptions{})
	check(errors.IsNotFound(err), "get after the deletion: %v", err)
	for _, want := range []watch.EventType{watch.Added, watch.Modified, watch.Modified, watch.Deleted} {
		event, open := <-watcher.ResultChan()
		check(open && event.Type == want, "want event %s, got %v", want, event)
	}
}

// A kind with values of all types, and a list that is sent in several pieces.
func large(ctx context.Context, client dynamic.Interface) {
	on := client.Resource(deployments).Namespace(namespace)
	for index := range 60 {
		name := fmt.Sprintf("d%d", index)
		labels := map[string]interface{}{"app": name}
		_, err := on.Create(ctx, &unstructured.Unstructured{Object: map[string]interface{}{
			"apiVersion": "apps/v1", "kind": "Deployment",
			"metadata": map[string]interface{}{"name": name, "annotations": map[string]interface{}{"long": strings.Repeat("é", 2000)}},
			"spec": map[string]interface{}{
				"replicas": int64(3), "selector": map[string]interface{}{"matchLabels": labels},
				"strategy": map[string]interface{}{"rollingUpdate": map[string]interface{}{"maxSurge": "25%", "maxUnavailable": int64(1)}},
				"template": map[string]interface{}{"metadata": map[string]interface{}{"labels": labels}, "spec": map[string]interface{}{
					"containers": []interface{}{map[string]interface{}{
						"name": "c", "image": "i", "resources": map[string]interface{}{"limits": map[string]interface{}{"memory": "1Gi"}},
					}},
				}},
			},
		}}, metav1.CreateOptions{})
		must(err)
	}
	list, err := on.List(ctx, metav1.ListOptions{})
	must(err)
	check(len(list.Items) == 60, "a list of %d objects", len(list.Items))
	surge, _, _ := unstructured.NestedFieldNoCopy(list.Items[0].Object, "spec", "strategy", "rollingUpdate", "maxSurge")
	unavailable, _, _ := unstructured.NestedFieldNoCopy(list.Items[0].Object, "spec", "strategy", "rollingUpdate", "maxUnavailable")
	check(surge == "25%" && unavailable == int64(1), "int-or-string values: %v, %v", surge, unavailable)
	must(on.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
}

// Records the media types of bodies and answers.
type recorder struct {
	next  http.RoundTripper
	lock  sync.Mutex
	types map[string]bool
}

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.next.RoundTrip(request)
	r.lock.Lock()
	defer r.lock.Unlock()
	if request.Body != nil {
		r.types[request.Header.Get("Content-Type")] = true
	}
	if err == nil {
		r.types[response.Header.Get("Content-Type")] = true
	}
	return response, err
}

func (r *recorder) has(part string) bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	for known := range r.types {
		if strings.Contains(known, part) {
			return true
		}
	}
	return false
}

func uidOf(object *unstructured.Unstructured) *types.UID {
	uid := object.GetUID()
	return &uid
}

func check(holds bool, format string, values ...interface{}) {
	if !holds {
		failures = append(failures, fmt.Sprintf(format, values...))
	}
}

func must(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
