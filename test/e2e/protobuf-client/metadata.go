package main

import (
	"context"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// Reads and writes the metadata of deployments with client-go's metadata client, which must agree
// with the typed client.
func metadataOnly(ctx context.Context, typed *kubernetes.Clientset, config *rest.Config) {
	deployments := typed.AppsV1().Deployments(namespace)
	client := metadata.NewForConfigOrDie(config).Resource(appsv1.SchemeGroupVersion.WithResource("deployments")).Namespace(namespace)
	for _, name := range []string{"meta-1", "meta-2", "meta-3"} {
		made := deployment()
		made.Name = name
		made.Labels = map[string]string{"alone": "yes"}
		_, err := deployments.Create(ctx, made, metav1.CreateOptions{})
		must(err)
	}
	same := func(what string, partial *metav1.PartialObjectMetadata) {
		whole, err := deployments.Get(ctx, partial.Name, metav1.GetOptions{})
		must(err)
		check(reflect.DeepEqual(partial.ObjectMeta, whole.ObjectMeta), "%s: %v differs from %v", what, partial.ObjectMeta, whole.ObjectMeta)
	}

	got, err := client.Get(ctx, "meta-1", metav1.GetOptions{})
	must(err)
	same("get", got)

	options := metav1.ListOptions{LabelSelector: "alone=yes", Limit: 2}
	names := []string{}
	for {
		list, err := client.List(ctx, options)
		must(err)
		for index := range list.Items {
			same("list", &list.Items[index])
			names = append(names, list.Items[index].Name)
		}
		if options.Continue = list.Continue; options.Continue == "" {
			break
		}
		check(list.RemainingItemCount == nil, "a list with a selector has a remainingItemCount")
	}
	check(reflect.DeepEqual(names, []string{"meta-1", "meta-2", "meta-3"}), "listed: %v", names)

	patched, err := client.Patch(ctx, "meta-1", types.MergePatchType, []byte(`{"metadata":{"annotations":{"a":"b"}}}`), metav1.PatchOptions{})
	must(err)
	same("patch", patched)
	check(patched.Annotations["a"] == "b", "patched: %v", patched.Annotations)

	watch, err := client.Watch(ctx, metav1.ListOptions{LabelSelector: "alone=yes", ResourceVersion: got.ResourceVersion})
	must(err)
	defer watch.Stop()
	for event := range watch.ResultChan() {
		partial, ok := event.Object.(*metav1.PartialObjectMetadata)
		check(ok, "the watch sent a %T", event.Object)
		if ok && partial.Name == "meta-1" {
			same("watch", partial)
			break
		}
	}

	must(client.Delete(ctx, "meta-1", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &got.UID}}))
	_, err = deployments.Get(ctx, "meta-1", metav1.GetOptions{})
	check(errors.IsNotFound(err), "after its deletion: %v", err)
	must(client.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "alone=yes"}))
	left, err := client.List(ctx, metav1.ListOptions{LabelSelector: "alone=yes"})
	must(err)
	check(len(left.Items) == 0, "left: %v", left.Items)
}
