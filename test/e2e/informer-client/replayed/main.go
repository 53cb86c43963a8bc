// Writes ConfigMaps and a Secret with a typed client, and waits for each change in an informer. Prints what the informer
// has seen and what the client was answered, sorted. The server is that of KUBECONFIG.
//
//	go run ./replayed CONTENT-TYPE
package main

import (
	"context"
	"fmt"
	"os"
	"sort"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applyv1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/retry"
)

const namespace = "default"

// How long a change may take to arrive.
const patience = 60 * time.Second

// What the informer has seen.
type sightings struct {
	mutex   sync.Mutex
	texts   map[string]bool
	arrived *sync.Cond
}

func (s *sightings) add(what string, object any) {
	if gone, isGone := object.(cache.DeletedFinalStateUnknown); isGone {
		object = gone.Obj
	}
	of := object.(*corev1.ConfigMap)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.texts[fmt.Sprintf("%s %s %s", what, of.Name, of.Data["x"])] = true
	s.arrived.Broadcast()
}

func (s *sightings) waitFor(text string) {
	timer := time.AfterFunc(patience, func() { panic("not seen: " + text) })
	defer timer.Stop()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for !s.texts[text] {
		s.arrived.Wait()
	}
}

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must(err)
	config.ContentType = os.Args[1]
	config.QPS = -1
	client := kubernetes.NewForConfigOrDie(config)
	ctx, cancel := context.WithCancel(context.Background())
	seen := &sightings{texts: map[string]bool{}}
	seen.arrived = sync.NewCond(&seen.mutex)
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	_, err = factory.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { seen.add("add", object) },
		UpdateFunc: func(_, object any) { seen.add("update", object) },
		DeleteFunc: func(object any) { seen.add("delete", object) },
	})
	must(err)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	var writers sync.WaitGroup
	for _, name := range []string{"a", "b", "c"} {
		writers.Go(func() { write(ctx, client, name, seen) })
	}
	writers.Wait()
	answered := secret(ctx, client)
	cancel()
	factory.Shutdown()
	texts := []string{answered}
	for text := range seen.texts {
		texts = append(texts, text)
	}
	sort.Strings(texts)
	for _, text := range texts {
		fmt.Println(text)
	}
}

func write(ctx context.Context, client kubernetes.Interface, name string, seen *sightings) {
	maps := client.CoreV1().ConfigMaps(namespace)
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"x": "1"}}
	_, err := maps.Create(ctx, object, metav1.CreateOptions{})
	must(err)
	seen.waitFor("add " + name + " 1")
	must(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		current, err := maps.Get(ctx, name, metav1.GetOptions{})
		must(err)
		current.Data["x"] = "2"
		_, err = maps.Update(ctx, current, metav1.UpdateOptions{})
		return err
	}))
	seen.waitFor("update " + name + " 2")
	applied := applyv1.ConfigMap(name, namespace).WithData(map[string]string{"x": "3"})
	_, err = maps.Apply(ctx, applied, metav1.ApplyOptions{FieldManager: "tester", Force: true})
	must(err)
	seen.waitFor("update " + name + " 3")
	patch := []byte(`{"data":{"x":"4"}}`)
	_, err = maps.Patch(ctx, name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	must(err)
	seen.waitFor("update " + name + " 4")
	must(maps.Delete(ctx, name, metav1.DeleteOptions{}))
	seen.waitFor("delete " + name + " 4")
}

// Returns what the client was answered.
func secret(ctx context.Context, client kubernetes.Interface) string {
	secrets := client.CoreV1().Secrets(namespace)
	object := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, StringData: map[string]string{"password": "Planted-1234"}}
	created, err := secrets.Create(ctx, object, metav1.CreateOptions{})
	must(err)
	_, err = secrets.Update(ctx, created, metav1.UpdateOptions{})
	must(err)
	must(secrets.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	left, err := secrets.List(ctx, metav1.ListOptions{})
	must(err)
	_, err = secrets.Get(ctx, "s", metav1.GetOptions{})
	return fmt.Sprintf("%d secrets left, not found: %t", len(left.Items), apierrors.IsNotFound(err))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
