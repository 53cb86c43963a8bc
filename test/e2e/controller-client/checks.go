package main

import (
	"fmt"
	"slices"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func boat(name string, crew ...string) *Boat {
	return &Boat{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Spec: BoatSpec{Crew: crew}}
}

func equal(what string, got, want any) error {
	if fmt.Sprint(got) == fmt.Sprint(want) {
		return nil
	}
	return fmt.Errorf("%s is %v, not %v", what, got, want)
}

// Runs the steps until one fails, and returns its error.
func all(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func names[T any](items []T, name func(*T) string) []string {
	all := []string{}
	for index := range items {
		all = append(all, name(&items[index]))
	}
	slices.Sort(all)
	return all
}

func boatNames(list *BoatList) []string {
	return names(list.Items, func(boat *Boat) string { return boat.Name })
}

var checks = []check{
	{"the leader holds a lease", func(api client.Client) error {
		lease := &coordinationv1.Lease{}
		if err := api.Get(background, types.NamespacedName{Namespace: "default", Name: "harbour"}, lease); err != nil {
			return err
		}
		if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
			return fmt.Errorf("the lease has no holder")
		}
		return nil
	}},
	{"create sets defaults and rejects an existing name", func(api client.Client) error {
		one := boat("one", "ann", "bob")
		if err := api.Create(background, one); err != nil {
			return err
		}
		if !apierrors.IsAlreadyExists(api.Create(background, boat("one"))) {
			return fmt.Errorf("created an existing name")
		}
		return equal("berth", one.Spec.Berth, 1)
	}},
	{"both versions are converted by webhook", func(api client.Client) error {
		old := &BoatV1{}
		if err := api.Get(background, types.NamespacedName{Namespace: "default", Name: "one"}, old); err != nil {
			return err
		}
		if err := equal("v1", fmt.Sprint(old.Spec, old.Annotations["crew"]), `{2 }["ann","bob"]`); err != nil {
			return err
		}
		old.Spec.Crew = 3
		if err := api.Update(background, old); err != nil {
			return err
		}
		stored := &Boat{}
		if err := api.Get(background, client.ObjectKeyFromObject(old), stored); err != nil {
			return err
		}
		if err := equal("v2", fmt.Sprint(stored.Spec.Crew, stored.Annotations), "[ann bob sailor-2] map[]"); err != nil {
			return err
		}
		if err := api.Patch(background, old, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"crew":1}}`))); err != nil {
			return err
		}
		created := &BoatV1{ObjectMeta: metav1.ObjectMeta{Name: "old", Namespace: "default"}, Spec: BoatSpecV1{Crew: 1, Color: "red"}}
		if err := api.Create(background, created); err != nil {
			return err
		}
		list := &BoatListV1{}
		if err := api.List(background, list, client.InNamespace("default")); err != nil {
			return err
		}
		crews := names(list.Items, func(boat *BoatV1) string { return fmt.Sprint(boat.Name, boat.Spec.Crew) })
		return equal("list of v1", crews, "[old1 one1]")
	}},
	{"webhook rejections are reported", func(api client.Client) error {
		plaid := &BoatV1{ObjectMeta: metav1.ObjectMeta{Name: "plaid", Namespace: "default"}, Spec: BoatSpecV1{Crew: 1, Color: "plaid"}}
		err := api.Create(background, plaid)
		want := "conversion webhook for boats.example.com/v1, Kind=Boat failed: plaid cannot be painted plaid"
		if err == nil || !strings.Contains(err.Error(), want) {
			return fmt.Errorf("the create returned %v", err)
		}
		return nil
	}},
	{"the controller reconciles and its caches follow", func(api client.Client) error {
		moored := boat("moored", "cat")
		moored.Labels = map[string]string{"moored": "yes"}
		moored.Spec.Color = "blue"
		if err := api.Create(background, moored); err != nil {
			return err
		}
		key := client.ObjectKeyFromObject(moored)
		return all(
			func() error {
				return eventually("the condition Moored is true", func() (bool, error) {
					err := cached.Get(background, key, moored)
					return meta.IsStatusConditionTrue(moored.Status.Conditions, "Moored") && slices.Contains(moored.Finalizers, finalizer), err
				})
			},
			func() error {
				crew := &corev1.ConfigMap{}
				if err := api.Get(background, types.NamespacedName{Namespace: "default", Name: "moored-crew"}, crew); err != nil {
					return err
				}
				return equal("owner", metav1.IsControlledBy(crew, moored), true)
			},
			func() error {
				if err := api.Patch(background, moored, client.RawPatch(types.JSONPatchType, []byte(`[{"op":"add","path":"/spec/crew/-","value":"dan"}]`))); err != nil {
					return err
				}
				return eventually("dan is listed", func() (bool, error) {
					crew := &corev1.ConfigMap{}
					err := cached.Get(background, types.NamespacedName{Namespace: "default", Name: "moored-crew"}, crew)
					return crew.Data["crew"] == "[cat dan]", err
				})
			},
			func() error {
				return eventually("its event exists", func() (bool, error) {
					list := &eventsv1.EventList{}
					err := api.List(background, list, client.InNamespace("default"), client.MatchingFields{"reason": "Listed"})
					return slices.ContainsFunc(list.Items, func(event eventsv1.Event) bool {
						return event.Regarding.Name == "moored" && event.Related != nil && event.Related.Name == "moored-crew"
					}), err
				})
			},
			func() error {
				list := &BoatList{}
				if err := cached.List(background, list, client.MatchingFields{"spec.color": "blue"}); err != nil {
					return err
				}
				return equal("blue boats", boatNames(list), "[moored]")
			},
		)
	}},
	{"scale", func(api client.Client) error {
		moored, scale := boat("moored"), &autoscalingv1.Scale{}
		if err := eventually("two are aboard", func() (bool, error) {
			err := api.SubResource("scale").Get(background, moored, scale)
			return scale.Status.Replicas == 2 && scale.Status.Selector == "boat=moored", err
		}); err != nil {
			return err
		}
		scale.Spec.Replicas = 5
		if err := api.SubResource("scale").Update(background, moored, client.WithSubResourceBody(scale)); err != nil {
			return err
		}
		patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":7}}`))
		if err := api.SubResource("scale").Patch(background, moored, patch, client.WithSubResourceBody(&autoscalingv1.Scale{})); err != nil {
			return err
		}
		if err := api.Get(background, client.ObjectKeyFromObject(moored), moored); err != nil {
			return err
		}
		return equal("berth", moored.Spec.Berth, 7)
	}},
	{"finalizers delay the deletion, and owned objects are deleted", func(api client.Client) error {
		moored := boat("moored")
		if err := api.Delete(background, moored, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
			return err
		}
		return eventually("both are deleted", func() (bool, error) {
			crew := &corev1.ConfigMap{}
			noCrew := api.Get(background, types.NamespacedName{Namespace: "default", Name: "moored-crew"}, crew)
			noBoat := api.Get(background, client.ObjectKeyFromObject(moored), moored)
			if noCrew == nil || noBoat == nil {
				return false, fmt.Errorf("crew %v, boat %v, %v %v", noCrew, noBoat, moored.DeletionTimestamp, moored.Finalizers)
			}
			return apierrors.IsNotFound(noBoat) && apierrors.IsNotFound(noCrew), nil
		})
	}},
	{"update with and without the current resourceVersion", func(api client.Client) error {
		one := boat("one")
		if err := api.Get(background, client.ObjectKeyFromObject(one), one); err != nil {
			return err
		}
		stale := one.DeepCopyObject().(*Boat)
		one.Spec.Color = "green"
		if err := api.Update(background, one); err != nil {
			return err
		}
		stale.Spec.Color = "red"
		if err := api.Update(background, stale); !apierrors.IsConflict(err) {
			return fmt.Errorf("an update at an older resourceVersion returned %v", err)
		}
		next := stale.DeepCopyObject().(*Boat)
		next.Spec.Color = "yellow"
		if err := api.Patch(background, next, client.MergeFromWithOptions(stale, client.MergeFromWithOptimisticLock{})); !apierrors.IsConflict(err) {
			return fmt.Errorf("a patch at an older resourceVersion returned %v", err)
		}
		one.Status.Aboard = 4
		if err := api.Status().Update(background, one); err != nil {
			return err
		}
		one.Spec.Berth = -1
		if err := api.Update(background, one, client.DryRunAll); !apierrors.IsInvalid(err) {
			return fmt.Errorf("an invalid update returned %v", err)
		}
		return equal("status", one.Status.Aboard, 4)
	}},
	{"apply and its conflicts", func(api client.Client) error {
		applied := func(color string) *unstructured.Unstructured {
			return &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "boats.example.com/v2", "kind": "Boat", "metadata": map[string]any{"name": "applied", "namespace": "default"},
				"spec": map[string]any{"color": color},
			}}
		}
		apply := func(color string, options ...client.ApplyOption) error {
			return api.Apply(background, client.ApplyConfigurationFromUnstructured(applied(color)), options...)
		}
		if err := apply("red", client.FieldOwner("one")); err != nil {
			return err
		}
		if err := apply("blue", client.FieldOwner("two")); !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `conflict with "one": .spec.color`) {
			return fmt.Errorf("a conflicting apply returned %v", err)
		}
		if err := apply("blue", client.FieldOwner("two"), client.ForceOwnership); err != nil {
			return err
		}
		status := applied("")
		status.Object["spec"] = nil
		delete(status.Object, "spec")
		status.Object["status"] = map[string]any{"aboard": int64(3)}
		if err := api.Status().Apply(background, client.ApplyConfigurationFromUnstructured(status), client.FieldOwner("two")); err != nil {
			return err
		}
		got := boat("applied")
		if err := api.Get(background, client.ObjectKeyFromObject(got), got); err != nil {
			return err
		}
		owners := names(got.ManagedFields, func(entry *metav1.ManagedFieldsEntry) string { return entry.Manager + " " + entry.Subresource })
		return equal("the object", fmt.Sprint(got.Spec.Color, " ", got.Status.Aboard, " ", owners), "blue 3 [two  two status]")
	}},
	{"selectors, chunks and deletion of a collection", func(api client.Client) error {
		if err := namespace(api, "many"); err != nil {
			return err
		}
		for index := range 10 {
			one := boat(fmt.Sprintf("boat-%d", index))
			one.Namespace, one.Spec.Color = "many", []string{"red", "blue"}[index%2]
			one.Labels = map[string]string{"third": fmt.Sprint(index % 3)}
			if err := api.Create(background, one); err != nil {
				return err
			}
		}
		list := &BoatList{}
		if err := api.List(background, list, client.InNamespace("many"), client.MatchingFields{"spec.color": "blue"}, client.MatchingLabels{"third": "1"}); err != nil {
			return err
		}
		if err := equal("blue boats of a third", boatNames(list), "[boat-1 boat-7]"); err != nil {
			return err
		}
		if err := eventually("the cache has them", func() (bool, error) {
			err := cached.List(background, list, client.InNamespace("many"), client.MatchingFields{"spec.color": "blue"}, client.MatchingLabels{"third": "1"})
			return len(list.Items) == 2, err
		}); err != nil {
			return err
		}
		seen, token := 0, ""
		for more := true; more; more = token != "" {
			if err := api.List(background, list, client.InNamespace("many"), client.Limit(3), client.Continue(token)); err != nil {
				return err
			}
			seen, token = seen+len(list.Items), list.Continue
		}
		if err := equal("seen in chunks", seen, 10); err != nil {
			return err
		}
		if err := api.DeleteAllOf(background, &Boat{}, client.InNamespace("many"), client.MatchingLabels{"third": "0"}); err != nil {
			return err
		}
		bare := &metav1.PartialObjectMetadataList{}
		bare.SetGroupVersionKind(v2.WithKind("BoatList"))
		if err := api.List(background, bare, client.InNamespace("many")); err != nil {
			return err
		}
		return equal("left", len(bare.Items), 6)
	}},
	{"the metrics endpoint authenticates and authorizes", readMetrics},
	{"the service account has no other permissions", overstep},
}
