// Applies objects like controllers, with client-go's typed apply configurations. Prints failures
// and exits with 1 if there are any.
//
//	go run . KUBECONFIG
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	applyautoscalingv1 "k8s.io/client-go/applyconfigurations/autoscaling/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/csaupgrade"
)

const namespace = "default"

var (
	failures []string
	one      = metav1.ApplyOptions{FieldManager: "one"}
	two      = metav1.ApplyOptions{FieldManager: "two"}
	forced   = metav1.ApplyOptions{FieldManager: "two", Force: true}
)

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	must(err)
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	// Applies are JSON, or YAML; the answers may be protobuf.
	for _, accept := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		accepting := rest.CopyConfig(config)
		accepting.AcceptContentTypes = accept
		client := kubernetes.NewForConfigOrDie(accepting)
		configMaps(ctx, client)
		deployments(ctx, client)
		upgrade(ctx, client)
	}
	for _, failure := range failures {
		fmt.Println(failure)
	}
	if len(failures) > 0 {
		os.Exit(1)
	}
	fmt.Println("all well")
}

func configMaps(ctx context.Context, client *kubernetes.Clientset) {
	maps := client.CoreV1().ConfigMaps(namespace)
	intent := applycorev1.ConfigMap("map", namespace).WithLabels(map[string]string{"x": "y"}).WithData(map[string]string{"a": "1", "b": "2"})
	created, err := maps.Apply(ctx, intent, one)
	if !ok(err, "create by apply") {
		return
	}
	defer func() { ok(maps.Delete(ctx, "map", metav1.DeleteOptions{}), "delete") }()
	again, err := maps.Apply(ctx, intent, one)
	ok(err, "apply again")
	check(reflect.DeepEqual(created, again), "applied again %+v\nbefore %+v", again, created)

	extracted, err := applycorev1.ExtractConfigMap(created, "one")
	ok(err, "extract")
	check(reflect.DeepEqual(extracted, intent), "extracted %+v\napplied %+v", extracted, intent)

	other := applycorev1.ConfigMap("map", namespace).WithData(map[string]string{"a": "9", "b": "8"})
	_, err = maps.Apply(ctx, other, two)
	conflicts(err, ".data.a", ".data.b")
	taken, err := maps.Apply(ctx, other, forced)
	ok(err, "force")
	check(taken.Data["a"] == "9" && taken.Labels["x"] == "y", "forced %+v", taken)
	left, err := applycorev1.ExtractConfigMap(taken, "one")
	ok(err, "extract the remaining fields")
	check(len(left.Data) == 0 && left.Labels["x"] == "y", "one has %+v left", left)

	// Read, extract, change, apply.
	mine, err := applycorev1.ExtractConfigMap(taken, "two")
	ok(err, "extract the forced fields")
	delete(mine.Data, "b")
	reduced, err := maps.Apply(ctx, mine.WithData(map[string]string{"c": "3"}), two)
	ok(err, "apply the extracted fields")
	check(reflect.DeepEqual(reduced.Data, map[string]string{"a": "9", "c": "3"}), "data %v", reduced.Data)

	dry := metav1.ApplyOptions{FieldManager: "two", DryRun: []string{metav1.DryRunAll}}
	_, err = maps.Apply(ctx, applycorev1.ConfigMap("dry", namespace), dry)
	ok(err, "dry run")
	_, err = maps.Get(ctx, "dry", metav1.GetOptions{})
	check(errors.IsNotFound(err), "a dry run stored an object: %v", err)

	_, err = maps.Apply(ctx, applycorev1.ConfigMap("absent", namespace).WithUID("12345"), one)
	check(errors.IsConflict(err), "applied to an object that does not exist: %v", err)
	_, err = maps.Apply(ctx, applycorev1.ConfigMap("map", namespace).WithResourceVersion("1"), one)
	check(errors.IsConflict(err), "applied to an old resourceVersion: %v", err)
	_, err = maps.Apply(ctx, applycorev1.ConfigMap("map", namespace), metav1.ApplyOptions{})
	check(errors.IsInvalid(err), "applied without a field manager: %v", err)
}

func deployments(ctx context.Context, client *kubernetes.Clientset) {
	deployments := client.AppsV1().Deployments(namespace)
	intent := deployment(2)
	created, err := deployments.Apply(ctx, intent, one)
	if !ok(err, "create a deployment by apply") {
		return
	}
	defer func() { ok(deployments.Delete(ctx, "web", metav1.DeleteOptions{}), "delete the deployment") }()
	extracted, err := applyappsv1.ExtractDeployment(created, "one")
	ok(err, "extract the deployment")
	check(reflect.DeepEqual(extracted, intent), "extracted %+v\napplied %+v", extracted, intent)

	scaled, err := deployments.ApplyScale(ctx, "web", applyautoscalingv1.Scale().WithName("web").WithNamespace(namespace).
		WithSpec(applyautoscalingv1.ScaleSpec().WithReplicas(5)), forced)
	ok(err, "apply a scale")
	check(scaled.Spec.Replicas == 5, "scaled %+v", scaled)
	_, err = deployments.Apply(ctx, deployment(2), one)
	conflicts(err, ".spec.replicas")

	status := applyappsv1.Deployment("web", namespace).WithStatus(applyappsv1.DeploymentStatus().WithReplicas(5).
		WithConditions(applyappsv1.DeploymentCondition().WithType("Available").WithStatus(corev1.ConditionTrue)))
	updated, err := deployments.ApplyStatus(ctx, status, two)
	ok(err, "apply a status")
	check(updated.Status.Replicas == 5 && len(updated.Status.Conditions) == 1, "status %+v", updated.Status)
	back, err := applyappsv1.ExtractDeploymentStatus(updated, "two")
	ok(err, "extract the status")
	check(reflect.DeepEqual(back, status), "extracted %+v\napplied %+v", back, status)

	// Fields that are removed from the configuration are removed from the object: the second
	// container, and the port of the first.
	fewer := deployment(5)
	fewer.Spec.Template.Spec.Containers = fewer.Spec.Template.Spec.Containers[:1]
	fewer.Spec.Template.Spec.Containers[0].Ports = nil
	reduced, err := deployments.Apply(ctx, fewer, one)
	if ok(err, "apply fewer fields") {
		containers := reduced.Spec.Template.Spec.Containers
		check(len(containers) == 1 && len(containers[0].Ports) == 0 && *reduced.Spec.Replicas == 5, "reduced %+v", reduced.Spec)
	}
}

func deployment(replicas int32) *applyappsv1.DeploymentApplyConfiguration {
	return applyappsv1.Deployment("web", namespace).WithSpec(applyappsv1.DeploymentSpec().WithReplicas(replicas).
		WithSelector(applymetav1.LabelSelector().WithMatchLabels(map[string]string{"app": "web"})).
		WithTemplate(applycorev1.PodTemplateSpec().WithLabels(map[string]string{"app": "web"}).WithSpec(applycorev1.PodSpec().WithContainers(
			applycorev1.Container().WithName("main").WithImage("x:1").
				WithPorts(applycorev1.ContainerPort().WithContainerPort(80).WithProtocol(corev1.ProtocolTCP)).
				WithEnv(applycorev1.EnvVar().WithName("A").WithValue("1")),
			applycorev1.Container().WithName("side").WithImage("s:1"),
		))))
}

// Upgrades a manager that wrote objects by PUT to apply.
func upgrade(ctx context.Context, client *kubernetes.Clientset) {
	maps := client.CoreV1().ConfigMaps(namespace)
	created, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "old"}, Data: map[string]string{"a": "1", "b": "2"}}, metav1.CreateOptions{FieldManager: "writer"})
	if !ok(err, "create") {
		return
	}
	defer func() { ok(maps.Delete(ctx, "old", metav1.DeleteOptions{}), "delete the upgraded object") }()
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(created, sets.New("writer"), "two")
	ok(err, "make the patch")
	_, err = maps.Patch(ctx, "old", types.JSONPatchType, patch, metav1.PatchOptions{})
	ok(err, "patch managed fields")
	applied, err := maps.Apply(ctx, applycorev1.ConfigMap("old", namespace).WithData(map[string]string{"a": "9"}), two)
	if ok(err, "apply the upgraded object") {
		check(reflect.DeepEqual(applied.Data, map[string]string{"a": "9"}), "data %v", applied.Data)
		check(len(applied.ManagedFields) == 1, "managers %+v", applied.ManagedFields)
	}
}

// Checks that the error is a conflict with one cause for each of these fields.
func conflicts(err error, fields ...string) {
	if !check(errors.IsConflict(err), "no conflict: %v", err) {
		return
	}
	var found []string
	for _, cause := range err.(errors.APIStatus).Status().Details.Causes {
		check(cause.Type == metav1.CauseTypeFieldManagerConflict, "cause %+v", cause)
		found = append(found, cause.Field)
	}
	check(reflect.DeepEqual(found, fields), "conflicts in %v, not %v", found, fields)
	check(err.(errors.APIStatus).Status().Code == http.StatusConflict, "status %+v", err)
}

func check(holds bool, format string, arguments ...any) bool {
	if !holds {
		failures = append(failures, fmt.Sprintf(format, arguments...))
	}
	return holds
}

func ok(err error, format string, arguments ...any) bool {
	return check(err == nil, format+": %v", append(arguments, err)...)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
