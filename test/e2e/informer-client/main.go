// Keeps the ConfigMaps of a server in client-go's informers: in JSON and in protobuf, complete
// objects and metadata only, of all namespaces and of one, by label and by field, with a resync.
// Each line of standard input is the name of an object; when every informer has it, the program
// prints one line of JSON with the objects of each informer. KUBE_FEATURE_WatchListClient=true or
// false selects how informers begin.
//
//	go run . KUBECONFIG
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sort"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// How long an informer may take to receive a write.
const patience = 60 * time.Second

type view struct {
	name, contentType, namespace, labels, fields string
	resync                                       time.Duration
	// Requests only metadata.
	metadata bool
}

var views = []view{
	{name: "json", contentType: runtime.ContentTypeJSON},
	{name: "protobuf", contentType: runtime.ContentTypeProtobuf},
	{name: "json label", contentType: runtime.ContentTypeJSON, labels: "x=1"},
	{name: "protobuf label", contentType: runtime.ContentTypeProtobuf, labels: "x=1"},
	{name: "json field", contentType: runtime.ContentTypeJSON, fields: "metadata.name!=n3"},
	{name: "protobuf namespace resync", contentType: runtime.ContentTypeProtobuf, namespace: "default", resync: time.Second},
	{name: "metadata json", contentType: runtime.ContentTypeJSON, metadata: true},
	{name: "metadata protobuf", contentType: runtime.ContentTypeProtobuf, metadata: true},
	{name: "metadata protobuf label", contentType: runtime.ContentTypeProtobuf, labels: "x=1", metadata: true},
}

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	must(err)
	config.QPS = -1
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var kept []*informer
	for _, view := range views {
		kept = append(kept, start(ctx, config, view))
	}
	lines := bufio.NewScanner(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		reports := map[string]report{}
		for _, informer := range kept {
			reports[informer.view.name] = informer.report(lines.Text())
		}
		must(out.Encode(reports))
	}
}

type informer struct {
	view     view
	store    cache.Store
	mutex    sync.Mutex
	seen     map[string]string
	problems []string
	resyncs  int
}

type report struct {
	// `namespace/name@resourceVersion`, sorted.
	Objects  []string `json:"objects"`
	Problems []string `json:"problems"`
	Resyncs  int      `json:"resyncs"`
}

func start(ctx context.Context, config *rest.Config, view view) *informer {
	own := rest.CopyConfig(config)
	own.ContentType = view.contentType
	own.AcceptContentTypes = view.contentType
	tweak := func(options *metav1.ListOptions) {
		options.LabelSelector = view.labels
		options.FieldSelector = view.fields
	}
	var shared cache.SharedIndexInformer
	if view.metadata {
		// The metadata client prefers protobuf to JSON and ignores the configuration.
		own.Wrap(func(next http.RoundTripper) http.RoundTripper { return only{next: next, mediaType: view.contentType} })
		informer := metadatainformer.NewFilteredMetadataInformer(metadata.NewForConfigOrDie(own), configMaps, view.namespace, view.resync, nil, tweak)
		shared = informer.Informer()
	} else {
		shared = informers.NewSharedInformerFactoryWithOptions(kubernetes.NewForConfigOrDie(own), view.resync,
			informers.WithNamespace(view.namespace), informers.WithTweakListOptions(tweak)).Core().V1().ConfigMaps().Informer()
	}
	kept := &informer{view: view, store: shared.GetStore(), seen: map[string]string{}}
	_, err := shared.AddEventHandler(kept)
	must(err)
	go shared.Run(ctx.Done())
	return kept
}

var configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")

// only leaves one media type of those that a request accepts.
type only struct {
	next      http.RoundTripper
	mediaType string
}

func (o only) RoundTrip(request *http.Request) (*http.Response, error) {
	own := request.Clone(request.Context())
	for _, clause := range strings.Split(request.Header.Get("Accept"), ",") {
		if strings.HasPrefix(clause, o.mediaType+";as=PartialObjectMetadata") {
			own.Header.Set("Accept", clause)
			return o.next.RoundTrip(own)
		}
	}
	return nil, fmt.Errorf("metadata is requested as %s", request.Header.Get("Accept"))
}

func (i *informer) OnAdd(object interface{}, _ bool) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	key, version := of(object)
	if before, there := i.seen[key]; there {
		i.problems = append(i.problems, fmt.Sprintf("%s@%s was added, but existed at %s", key, version, before))
	}
	i.seen[key] = version
}

func (i *informer) OnUpdate(old, object interface{}) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	key, version := of(object)
	_, before := of(old)
	if i.seen[key] != before {
		i.problems = append(i.problems, fmt.Sprintf("%s was updated from %s to %s, but was at %s", key, before, version, i.seen[key]))
	}
	if before == version {
		i.resyncs++
	} else if len(version) < len(before) || len(version) == len(before) && version < before {
		i.problems = append(i.problems, fmt.Sprintf("%s was updated from %s to the older %s", key, before, version))
	}
	i.seen[key] = version
}

func (i *informer) OnDelete(object interface{}) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	// After a new list the last state may be unknown.
	if unknown, is := object.(cache.DeletedFinalStateUnknown); is {
		object = unknown.Obj
	}
	key, _ := of(object)
	if _, there := i.seen[key]; !there {
		i.problems = append(i.problems, key+" was deleted, but did not exist")
	}
	delete(i.seen, key)
}

func of(object interface{}) (key, version string) {
	accessor, err := meta.Accessor(object)
	must(err)
	return accessor.GetNamespace() + "/" + accessor.GetName(), accessor.GetResourceVersion()
}

// report waits until the handler has seen this object and everything in the store.
func (i *informer) report(last string) report {
	deadline := time.Now().Add(patience)
	for {
		stored := i.objects()
		i.mutex.Lock()
		seen := texts(i.seen)
		_, there := i.seen[last]
		result := report{Objects: stored, Problems: append([]string{}, i.problems...), Resyncs: i.resyncs}
		i.mutex.Unlock()
		if there && fmt.Sprint(seen) == fmt.Sprint(stored) {
			return result
		}
		if time.Now().After(deadline) {
			result.Problems = append(result.Problems, fmt.Sprintf("waited for %s: the store has %v, the handler saw %v", last, stored, seen))
			return result
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (i *informer) objects() []string {
	state := map[string]string{}
	for _, object := range i.store.List() {
		key, version := of(object)
		state[key] = version
	}
	return texts(state)
}

func texts(state map[string]string) []string {
	texts := []string{}
	for key, version := range state {
		texts = append(texts, key+"@"+version)
	}
	sort.Strings(texts)
	return texts
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
