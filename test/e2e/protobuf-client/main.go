// Uses client-go's typed clients and informers with protobuf only. Prints failures and exits with 1
// if there are any.
//
//	go run . KUBECONFIG
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const namespace = "default"

var failures []string

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	must(err)
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf // Without JSON as a fallback.
	config.Wrap(onlyProtobuf)
	client := kubernetes.NewForConfigOrDie(config)

	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	factory := informers.NewSharedInformerFactory(client, 0)
	seen := map[string]*recorder{}
	for name, informer := range watched(factory) {
		seen[name] = &recorder{last: map[string]runtime.Object{}}
		_, err := informer.AddEventHandler(seen[name])
		must(err)
	}
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		check(synced, "informer of %v has not synced", kind)
	}

	exercise(ctx, seen["configmaps"], client.CoreV1().ConfigMaps(namespace), configMap())
	exercise(ctx, seen["secrets"], client.CoreV1().Secrets(namespace), secret())
	exercise(ctx, seen["services"], client.CoreV1().Services(namespace), service())
	exercise(ctx, seen["pods"], client.CoreV1().Pods(namespace), pod())
	exercise(ctx, seen["nodes"], client.CoreV1().Nodes(), node())
	exercise(ctx, seen["deployments"], client.AppsV1().Deployments(namespace), deployment())
	exercise(ctx, seen["cronjobs"], client.BatchV1().CronJobs(namespace), cronJob())
	exercise(ctx, seen["leases"], client.CoordinationV1().Leases(namespace), lease())
	exercise(ctx, seen["endpointslices"], client.DiscoveryV1().EndpointSlices(namespace), endpointSlice())
	exercise(ctx, seen["ingresses"], client.NetworkingV1().Ingresses(namespace), ingress())
	exercise(ctx, seen["poddisruptionbudgets"], client.PolicyV1().PodDisruptionBudgets(namespace), budget())
	exercise(ctx, seen["clusterroles"], client.RbacV1().ClusterRoles(), clusterRole())
	others(ctx, client)
	metadataOnly(ctx, client, config)

	for _, failure := range failures {
		fmt.Println(failure)
	}
	if len(failures) > 0 {
		os.Exit(1)
	}
	fmt.Println("all well")
}

// Every answer with a body must be protobuf.
func onlyProtobuf(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if err == nil && !strings.HasPrefix(response.Header.Get("Content-Type"), runtime.ContentTypeProtobuf) {
			fail("%s %s: answered as %q", request.Method, request.URL, response.Header.Get("Content-Type"))
		}
		return response, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (run roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return run(request) }

func watched(factory informers.SharedInformerFactory) map[string]cache.SharedIndexInformer {
	core := factory.Core().V1()
	return map[string]cache.SharedIndexInformer{
		"configmaps":           core.ConfigMaps().Informer(),
		"secrets":              core.Secrets().Informer(),
		"services":             core.Services().Informer(),
		"pods":                 core.Pods().Informer(),
		"nodes":                core.Nodes().Informer(),
		"deployments":          factory.Apps().V1().Deployments().Informer(),
		"cronjobs":             factory.Batch().V1().CronJobs().Informer(),
		"leases":               factory.Coordination().V1().Leases().Informer(),
		"endpointslices":       factory.Discovery().V1().EndpointSlices().Informer(),
		"ingresses":            factory.Networking().V1().Ingresses().Informer(),
		"poddisruptionbudgets": factory.Policy().V1().PodDisruptionBudgets().Informer(),
		"clusterroles":         factory.Rbac().V1().ClusterRoles().Informer(),
	}
}

// The last state of each object that an informer reported; nil for a deleted object.
type recorder struct {
	mutex sync.Mutex
	last  map[string]runtime.Object
}

func (r *recorder) OnAdd(object any, _ bool) { r.set(object, object.(runtime.Object)) }
func (r *recorder) OnUpdate(_, object any)   { r.set(object, object.(runtime.Object)) }
func (r *recorder) OnDelete(object any)      { r.set(object, nil) }

func (r *recorder) set(object any, state runtime.Object) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if accessor, ok := object.(metav1.Object); ok {
		r.last[accessor.GetName()] = state
	}
}

func (r *recorder) get(name string) (runtime.Object, bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	state, known := r.last[name]
	return state, known
}

type object interface {
	metav1.Object
	runtime.Object
}

type client[O object, L runtime.Object] interface {
	Create(context.Context, O, metav1.CreateOptions) (O, error)
	Update(context.Context, O, metav1.UpdateOptions) (O, error)
	Get(context.Context, string, metav1.GetOptions) (O, error)
	List(context.Context, metav1.ListOptions) (L, error)
	Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (O, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
}

// All verbs on one object; the informer must report each change.
func exercise[O object, L runtime.Object](ctx context.Context, seen *recorder, client client[O, L], desired O) {
	what := fmt.Sprintf("%T", desired)
	created, err := client.Create(ctx, desired.DeepCopyObject().(O), metav1.CreateOptions{})
	if !ok(err, "%s: create", what) {
		return
	}
	check(created.GetUID() != "", "%s: created without uid", what)
	_, err = client.Create(ctx, desired.DeepCopyObject().(O), metav1.CreateOptions{})
	check(errors.IsAlreadyExists(err), "%s: created again: %v", what, err)
	name := desired.GetName()
	got, err := client.Get(ctx, name, metav1.GetOptions{})
	ok(err, "%s: get", what)
	check(reflect.DeepEqual(got, created), "%s: got %+v\ncreated %+v", what, got, created)
	list, err := client.List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	ok(err, "%s: list", what)
	items := reflect.ValueOf(list).Elem().FieldByName("Items")
	if check(items.Len() == 1, "%s: %d items", what, items.Len()) {
		check(reflect.DeepEqual(items.Index(0).Addr().Interface(), any(got)), "%s: listed %+v\ngot %+v", what, items.Index(0), got)
	}
	changed := got.DeepCopyObject().(O)
	changed.SetAnnotations(map[string]string{"changed": "é", "also": ""})
	updated, err := client.Update(ctx, changed, metav1.UpdateOptions{})
	ok(err, "%s: update", what)
	check(updated.GetAnnotations()["changed"] == "é", "%s: not updated: %v", what, updated.GetAnnotations())
	_, err = client.Update(ctx, changed, metav1.UpdateOptions{})
	check(errors.IsConflict(err), "%s: updated an old resourceVersion: %v", what, err)
	patched, err := client.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"labels":{"patched":"yes"}}}`), metav1.PatchOptions{})
	ok(err, "%s: patch", what)
	eventually(func() bool { state, _ := seen.get(name); return reflect.DeepEqual(state, any(patched)) }, func() string {
		state, _ := seen.get(name)
		return fmt.Sprintf("%s: the informer saw %+v\npatched %+v", what, state, patched)
	})
	zero := int64(0)
	wrong := types.UID("wrong")
	err = client.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &wrong}})
	check(errors.IsConflict(err), "%s: deleted with a wrong uid: %v", what, err)
	ok(client.Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &zero}), "%s: delete", what)
	_, err = client.Get(ctx, name, metav1.GetOptions{})
	check(errors.IsNotFound(err), "%s: get after the deletion: %v", what, err)
	eventually(func() bool { state, known := seen.get(name); return known && state == nil }, func() string { return what + ": the informer did not report the deletion" })
}

// Other requests: status, scale, eviction, chunks, watches, errors, discovery.
func others(ctx context.Context, client *kubernetes.Clientset) {
	deployments := client.AppsV1().Deployments(namespace)
	created, err := deployments.Create(ctx, deployment(), metav1.CreateOptions{})
	if ok(err, "deployment") {
		created.Status.Conditions = []appsv1.DeploymentCondition{{Type: "Available", Status: "True", LastUpdateTime: metav1.NewTime(time.Unix(1_700_000_000, 0))}}
		updated, err := deployments.UpdateStatus(ctx, created, metav1.UpdateOptions{})
		ok(err, "update status")
		check(len(updated.Status.Conditions) == 1, "status not updated: %+v", updated.Status)
		scale, err := deployments.GetScale(ctx, created.Name, metav1.GetOptions{})
		ok(err, "scale")
		check(scale.Spec.Replicas == 2, "scale %+v", scale)
		scaled, err := deployments.UpdateScale(ctx, created.Name, &autoscalingv1.Scale{ObjectMeta: scale.ObjectMeta, Spec: autoscalingv1.ScaleSpec{Replicas: 3}}, metav1.UpdateOptions{})
		ok(err, "update scale")
		check(scaled.Spec.Replicas == 3, "scaled %+v", scaled)
	}
	pods := client.CoreV1().Pods(namespace)
	_, err = pods.Create(ctx, pod(), metav1.CreateOptions{})
	ok(err, "pod")
	ok(pods.EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod().Name}}), "evict")
	_, err = pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "Bad"}}, metav1.CreateOptions{})
	check(errors.IsInvalid(err), "an invalid pod: %v", err)
	if status, is := err.(errors.APIStatus); check(is, "no status: %v", err) {
		check(len(status.Status().Details.Causes) > 1, "causes %+v", status.Status().Details)
	}
	chunks(ctx, client)
	watch(ctx, client)
	discover(client)
}

func chunks(ctx context.Context, client *kubernetes.Clientset) {
	maps := client.CoreV1().ConfigMaps(namespace)
	for index := range 20 {
		_, err := maps.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("chunk-%02d", index), Labels: map[string]string{"chunk": "yes"}},
			Data:       map[string]string{"text": strings.Repeat("0123456789abcdef", 2000)},
		}, metav1.CreateOptions{})
		ok(err, "create chunk")
	}
	all, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "chunk=yes"})
	ok(err, "list that is sent in several pieces")
	check(len(all.Items) == 20 && all.Continue == "", "%d items", len(all.Items))
	count, next := 0, ""
	for {
		page, err := maps.List(ctx, metav1.ListOptions{Limit: 6, Continue: next, LabelSelector: "chunk=yes"})
		if !ok(err, "list page") {
			return
		}
		count, next = count+len(page.Items), page.Continue
		if next == "" {
			break
		}
	}
	check(count == 20, "%d items in pages", count)
	ok(maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "chunk=yes"}), "delete collection")
}

func watch(ctx context.Context, client *kubernetes.Clientset) {
	maps := client.CoreV1().ConfigMaps(namespace)
	yes := true
	watch, err := maps.Watch(ctx, metav1.ListOptions{SendInitialEvents: &yes, AllowWatchBookmarks: true, ResourceVersionMatch: "NotOlderThan"})
	if ok(err, "watch") {
		for event := range watch.ResultChan() {
			if event.Type == "BOOKMARK" {
				check(event.Object.(*corev1.ConfigMap).Annotations["k8s.io/initial-events-end"] == "true", "bookmark %+v", event.Object)
				break
			}
			check(event.Type == "ADDED", "event %+v", event)
		}
		watch.Stop()
	}
	_, err = maps.Watch(ctx, metav1.ListOptions{ResourceVersion: "nonsense"})
	_, is := err.(errors.APIStatus)
	check(is, "a watch at an invalid resourceVersion: %v", err)
}

func discover(client *kubernetes.Clientset) {
	for _, path := range []string{"/api", "/apis", "/apis/apps", "/apis/apps/v1"} {
		body, err := client.CoreV1().RESTClient().Get().AbsPath(path).SetHeader("Accept", runtime.ContentTypeProtobuf).DoRaw(context.Background())
		ok(err, "%s", path)
		check(strings.HasPrefix(string(body), "k8s\x00"), "%s: %q", path, body)
	}
	_, err := client.CoreV1().RESTClient().Get().AbsPath("/apis/apps/v1/nothings").DoRaw(context.Background())
	check(errors.IsNotFound(err), "nothings: %v", err)
}

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}}
}

func podSpec() corev1.PodSpec {
	return corev1.PodSpec{
		Containers: []corev1.Container{{
			Name: "main", Image: "example.com/main:1",
			Env:       []corev1.EnvVar{{Name: "A", Value: "b"}, {Name: "N", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}},
			Ports:     []corev1.ContainerPort{{ContainerPort: 80}},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1500m"), "memory": resource.MustParse("1Gi")}},
			LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
				HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromString("http")},
			}},
		}},
		Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
	}
}

func template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "a"}}, Spec: podSpec()}
}

func configMap() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: meta("a"), Data: map[string]string{"k": "v", "empty": "", "other": "<&> é"}, BinaryData: map[string][]byte{"b": {0, 255}}}
}

func secret() *corev1.Secret {
	return &corev1.Secret{ObjectMeta: meta("a"), Data: map[string][]byte{"k": []byte("v")}, StringData: map[string]string{"s": "t"}}
}

func service() *corev1.Service {
	return &corev1.Service{ObjectMeta: meta("a"), Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "a"}, Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}}}}
}

func pod() *corev1.Pod { return &corev1.Pod{ObjectMeta: meta("a"), Spec: podSpec()} }

func node() *corev1.Node {
	return &corev1.Node{ObjectMeta: meta("a"), Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "k", Effect: "NoSchedule"}}}}
}

func deployment() *appsv1.Deployment {
	replicas := int32(2)
	return &appsv1.Deployment{ObjectMeta: meta("a"), Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}, Template: template(),
	}}
}

func cronJob() *batchv1.CronJob {
	job := batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: template()}}
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	return &batchv1.CronJob{ObjectMeta: meta("a"), Spec: batchv1.CronJobSpec{Schedule: "*/5 * * * *", JobTemplate: job}}
}

func lease() *coordinationv1.Lease {
	holder, renewed := "me", metav1.NewMicroTime(time.Unix(1_700_000_000, 123_456_000))
	return &coordinationv1.Lease{ObjectMeta: meta("a"), Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &renewed}}
}

func endpointSlice() *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{ObjectMeta: meta("a"), AddressType: "IPv4", Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}}}}
}

func ingress() *networkingv1.Ingress {
	backend := &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "a", Port: networkingv1.ServiceBackendPort{Number: 80}}}
	return &networkingv1.Ingress{ObjectMeta: meta("a"), Spec: networkingv1.IngressSpec{DefaultBackend: backend}}
}

func budget() *policyv1.PodDisruptionBudget {
	most := intstr.FromString("25%")
	return &policyv1.PodDisruptionBudget{ObjectMeta: meta("a"), Spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &most, Selector: &metav1.LabelSelector{}}}
}

func clusterRole() *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{ObjectMeta: meta("a"), Rules: []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}}}
}

func eventually(holds func() bool, otherwise func() string) {
	for range 500 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	fail("%s", otherwise())
}

func check(holds bool, format string, arguments ...any) bool {
	if !holds {
		fail(format, arguments...)
	}
	return holds
}

func ok(err error, format string, arguments ...any) bool {
	return check(err == nil, format+": %v", append(arguments, err)...)
}

var mutex sync.Mutex

func fail(format string, arguments ...any) {
	mutex.Lock()
	defer mutex.Unlock()
	failures = append(failures, fmt.Sprintf(format, arguments...))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
