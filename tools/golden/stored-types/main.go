// Lists the versions of kinds that kube-apiserver no longer serves but still reads from storage. `kinds` has the type of each; a type
// that is encoded like that of the storage version has its name. `types` has the other types, in the form of src/apimachinery/data/types.json.
package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	admissionv1alpha1 "k8s.io/api/admissionregistration/v1alpha1"
	admissionv1beta1 "k8s.io/api/admissionregistration/v1beta1"
	appsv1 "k8s.io/api/apps/v1"
	appsv1beta1 "k8s.io/api/apps/v1beta1"
	appsv1beta2 "k8s.io/api/apps/v1beta2"
	batchv1 "k8s.io/api/batch/v1"
	batchv1beta1 "k8s.io/api/batch/v1beta1"
	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	discoveryv1 "k8s.io/api/discovery/v1"
	discoveryv1beta1 "k8s.io/api/discovery/v1beta1"
	eventsv1 "k8s.io/api/events/v1"
	eventsv1beta1 "k8s.io/api/events/v1beta1"
	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	flowcontrolv1beta1 "k8s.io/api/flowcontrol/v1beta1"
	flowcontrolv1beta2 "k8s.io/api/flowcontrol/v1beta2"
	flowcontrolv1beta3 "k8s.io/api/flowcontrol/v1beta3"
	networkingv1 "k8s.io/api/networking/v1"
	networkingv1beta1 "k8s.io/api/networking/v1beta1"
	nodev1 "k8s.io/api/node/v1"
	nodev1alpha1 "k8s.io/api/node/v1alpha1"
	nodev1beta1 "k8s.io/api/node/v1beta1"
	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	rbacv1 "k8s.io/api/rbac/v1"
	rbacv1alpha1 "k8s.io/api/rbac/v1alpha1"
	rbacv1beta1 "k8s.io/api/rbac/v1beta1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	storagev1alpha1 "k8s.io/api/storage/v1alpha1"
	storagev1beta1 "k8s.io/api/storage/v1beta1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiregistrationv1beta1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1beta1"

	"coxswain/tools/golden/internal/fixture"
)

// An object at a version that is only stored, and at the version that is compared with it.
var pairs = []struct {
	groupVersion string
	stored, now  any
}{
	{"admissionregistration.k8s.io/v1alpha1", admissionv1alpha1.ValidatingAdmissionPolicy{}, admissionv1.ValidatingAdmissionPolicy{}},
	{"admissionregistration.k8s.io/v1alpha1", admissionv1alpha1.ValidatingAdmissionPolicyBinding{}, admissionv1.ValidatingAdmissionPolicyBinding{}},
	{"admissionregistration.k8s.io/v1beta1", admissionv1beta1.MutatingWebhookConfiguration{}, admissionv1.MutatingWebhookConfiguration{}},
	{"admissionregistration.k8s.io/v1beta1", admissionv1beta1.ValidatingAdmissionPolicy{}, admissionv1.ValidatingAdmissionPolicy{}},
	{"admissionregistration.k8s.io/v1beta1", admissionv1beta1.ValidatingAdmissionPolicyBinding{}, admissionv1.ValidatingAdmissionPolicyBinding{}},
	{"admissionregistration.k8s.io/v1beta1", admissionv1beta1.ValidatingWebhookConfiguration{}, admissionv1.ValidatingWebhookConfiguration{}},
	{"apiextensions.k8s.io/v1beta1", apiextensionsv1beta1.CustomResourceDefinition{}, apiextensionsv1.CustomResourceDefinition{}},
	{"apiregistration.k8s.io/v1beta1", apiregistrationv1beta1.APIService{}, apiregistrationv1.APIService{}},
	{"apps/v1beta1", appsv1beta1.ControllerRevision{}, appsv1.ControllerRevision{}},
	{"apps/v1beta1", appsv1beta1.Deployment{}, appsv1.Deployment{}},
	{"apps/v1beta1", appsv1beta1.StatefulSet{}, appsv1.StatefulSet{}},
	{"apps/v1beta2", appsv1beta2.ControllerRevision{}, appsv1.ControllerRevision{}},
	{"apps/v1beta2", appsv1beta2.DaemonSet{}, appsv1.DaemonSet{}},
	{"apps/v1beta2", appsv1beta2.Deployment{}, appsv1.Deployment{}},
	{"apps/v1beta2", appsv1beta2.ReplicaSet{}, appsv1.ReplicaSet{}},
	{"apps/v1beta2", appsv1beta2.StatefulSet{}, appsv1.StatefulSet{}},
	{"batch/v1beta1", batchv1beta1.CronJob{}, batchv1.CronJob{}},
	{"certificates.k8s.io/v1beta1", certificatesv1beta1.CertificateSigningRequest{}, certificatesv1.CertificateSigningRequest{}},
	{"coordination.k8s.io/v1beta1", coordinationv1beta1.Lease{}, coordinationv1.Lease{}},
	{"discovery.k8s.io/v1beta1", discoveryv1beta1.EndpointSlice{}, discoveryv1.EndpointSlice{}},
	{"events.k8s.io/v1beta1", eventsv1beta1.Event{}, eventsv1.Event{}},
	{"extensions/v1beta1", extensionsv1beta1.DaemonSet{}, appsv1.DaemonSet{}},
	{"extensions/v1beta1", extensionsv1beta1.Deployment{}, appsv1.Deployment{}},
	{"extensions/v1beta1", extensionsv1beta1.Ingress{}, networkingv1.Ingress{}},
	{"extensions/v1beta1", extensionsv1beta1.NetworkPolicy{}, networkingv1.NetworkPolicy{}},
	{"extensions/v1beta1", extensionsv1beta1.ReplicaSet{}, appsv1.ReplicaSet{}},
	{"flowcontrol.apiserver.k8s.io/v1beta1", flowcontrolv1beta1.FlowSchema{}, flowcontrolv1.FlowSchema{}},
	{"flowcontrol.apiserver.k8s.io/v1beta1", flowcontrolv1beta1.PriorityLevelConfiguration{}, flowcontrolv1.PriorityLevelConfiguration{}},
	{"flowcontrol.apiserver.k8s.io/v1beta2", flowcontrolv1beta2.FlowSchema{}, flowcontrolv1.FlowSchema{}},
	{"flowcontrol.apiserver.k8s.io/v1beta2", flowcontrolv1beta2.PriorityLevelConfiguration{}, flowcontrolv1.PriorityLevelConfiguration{}},
	{"flowcontrol.apiserver.k8s.io/v1beta3", flowcontrolv1beta3.FlowSchema{}, flowcontrolv1.FlowSchema{}},
	{"flowcontrol.apiserver.k8s.io/v1beta3", flowcontrolv1beta3.PriorityLevelConfiguration{}, flowcontrolv1.PriorityLevelConfiguration{}},
	{"networking.k8s.io/v1beta1", networkingv1beta1.Ingress{}, networkingv1.Ingress{}},
	{"networking.k8s.io/v1beta1", networkingv1beta1.IngressClass{}, networkingv1.IngressClass{}},
	{"node.k8s.io/v1alpha1", nodev1alpha1.RuntimeClass{}, nodev1.RuntimeClass{}},
	{"node.k8s.io/v1beta1", nodev1beta1.RuntimeClass{}, nodev1.RuntimeClass{}},
	{"policy/v1beta1", policyv1beta1.PodDisruptionBudget{}, policyv1.PodDisruptionBudget{}},
	{"rbac.authorization.k8s.io/v1alpha1", rbacv1alpha1.ClusterRole{}, rbacv1.ClusterRole{}},
	{"rbac.authorization.k8s.io/v1alpha1", rbacv1alpha1.ClusterRoleBinding{}, rbacv1.ClusterRoleBinding{}},
	{"rbac.authorization.k8s.io/v1alpha1", rbacv1alpha1.Role{}, rbacv1.Role{}},
	{"rbac.authorization.k8s.io/v1alpha1", rbacv1alpha1.RoleBinding{}, rbacv1.RoleBinding{}},
	{"rbac.authorization.k8s.io/v1beta1", rbacv1beta1.ClusterRole{}, rbacv1.ClusterRole{}},
	{"rbac.authorization.k8s.io/v1beta1", rbacv1beta1.ClusterRoleBinding{}, rbacv1.ClusterRoleBinding{}},
	{"rbac.authorization.k8s.io/v1beta1", rbacv1beta1.Role{}, rbacv1.Role{}},
	{"rbac.authorization.k8s.io/v1beta1", rbacv1beta1.RoleBinding{}, rbacv1.RoleBinding{}},
	{"scheduling.k8s.io/v1beta1", schedulingv1beta1.PriorityClass{}, schedulingv1.PriorityClass{}},
	{"storage.k8s.io/v1alpha1", storagev1alpha1.CSIStorageCapacity{}, storagev1.CSIStorageCapacity{}},
	{"storage.k8s.io/v1alpha1", storagev1alpha1.VolumeAttachment{}, storagev1.VolumeAttachment{}},
	{"storage.k8s.io/v1alpha1", storagev1alpha1.VolumeAttributesClass{}, storagev1.VolumeAttributesClass{}},
	{"storage.k8s.io/v1beta1", storagev1beta1.CSIDriver{}, storagev1.CSIDriver{}},
	{"storage.k8s.io/v1beta1", storagev1beta1.CSINode{}, storagev1.CSINode{}},
	{"storage.k8s.io/v1beta1", storagev1beta1.CSIStorageCapacity{}, storagev1.CSIStorageCapacity{}},
	{"storage.k8s.io/v1beta1", storagev1beta1.StorageClass{}, storagev1.StorageClass{}},
	{"storage.k8s.io/v1beta1", storagev1beta1.VolumeAttachment{}, storagev1.VolumeAttachment{}},
}

type typeRow struct {
	Special string  `json:"special,omitempty"`
	Fields  [][]any `json:"fields,omitzero"`
}

var types = map[string]typeRow{}

func main() {
	kinds := map[string]string{}
	for _, pair := range pairs {
		stored := reflect.TypeOf(pair.stored)
		kinds[pair.groupVersion+"/"+stored.Name()] = definition(stored, reflect.TypeOf(pair.now))
	}
	fmt.Printf("{\n\"kinds\":%s,\n\"types\":%s}\n", lines(kinds), lines(types))
}

// lines encodes a map with one entry on each line.
func lines[T any](entries map[string]T) string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		entry, err := json.Marshal(map[string]T{key: entries[key]})
		fixture.Must(err)
		lines = append(lines, string(entry[1:len(entry)-1]))
	}
	return "{\n" + strings.Join(lines, ",\n") + "}"
}

// Types that are encoded in a form of their own.
var special = regexp.MustCompile(`^(ExtraValue|JSON|JSONSchemaPropsOr(Array|Bool|StringArray))$`)

// definition returns the name of a type and lists it, unless it is encoded like another one.
func definition(stored, now reflect.Type) string {
	if now != nil && isSame(stored, now, map[reflect.Type]bool{}) {
		return nameOf(now)
	}
	name := nameOf(stored)
	if _, done := types[name]; done || isShared(stored) {
		return name
	}
	if special.MatchString(stored.Name()) {
		types[name] = typeRow{Special: stored.Name()}
		if stored.Kind() == reflect.Struct && stored.NumField() > 0 {
			for i := range stored.NumField() {
				if t := stored.Field(i).Type; t.Kind() == reflect.Pointer {
					definition(t.Elem(), nil)
				}
			}
		}
		return name
	}
	types[name] = typeRow{}
	types[name] = typeRow{Fields: fields(stored, now)}
	return name
}

// isShared reports whether src/apimachinery/data/types.json has the type.
func isShared(t reflect.Type) bool {
	return regexp.MustCompile(`^k8s.io/(api/core/v1|apimachinery/.*|api/autoscaling/v1|api/batch/v1|api/apps/v1|api/networking/v1)$`).MatchString(t.PkgPath())
}

func nameOf(t reflect.Type) string {
	path := strings.Replace(t.PkgPath(), "k8s.io", "io.k8s", 1)
	return strings.ReplaceAll(path, "/", ".") + "." + t.Name()
}

func isSame(a, b reflect.Type, seen map[reflect.Type]bool) bool {
	if a == b {
		return true
	}
	if a.Kind() != b.Kind() || special.MatchString(a.Name()) != special.MatchString(b.Name()) {
		return false
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Slice:
		return isSame(a.Elem(), b.Elem(), seen)
	case reflect.Map:
		return isSame(a.Key(), b.Key(), seen) && isSame(a.Elem(), b.Elem(), seen)
	case reflect.Struct:
		return haveSameFields(a, b, seen)
	}
	return true
}

func haveSameFields(a, b reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[a] {
		return true
	}
	seen[a] = true
	if isShared(a) && !isShared(b) || a.NumField() != b.NumField() {
		return false
	}
	for i := range a.NumField() {
		f, g := a.Field(i), b.Field(i)
		if f.Tag.Get("json") != g.Tag.Get("json") || number(f) != number(g) || !isSame(f.Type, g.Type, seen) {
			return false
		}
	}
	return true
}

func number(f reflect.StructField) int {
	parts := strings.Split(f.Tag.Get("protobuf"), ",")
	var n int
	if len(parts) > 1 {
		_, err := fmt.Sscan(parts[1], &n)
		fixture.Must(err)
	}
	return n
}

func fields(stored, now reflect.Type) [][]any {
	rows := [][]any{}
	for i := range stored.NumField() {
		f := stored.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		flags := ""
		if name == "" {
			name, flags = f.Name, "i"
		}
		t, other := f.Type, sameField(now, f)
		if t.Kind() == reflect.Pointer {
			t, flags = t.Elem(), flags+"p"
			if other != nil && other.Kind() == reflect.Pointer {
				other = other.Elem()
			}
		}
		if strings.Contains(options, "omitempty") {
			flags += "e"
		}
		if strings.Contains(options, "omitzero") {
			flags += "z"
		}
		rows = append(rows, []any{name, text(t, other), flags, number(f)})
	}
	return rows
}

func sameField(now reflect.Type, f reflect.StructField) reflect.Type {
	if now != nil && now.Kind() == reflect.Struct {
		if other, found := now.FieldByName(f.Name); found {
			return other.Type
		}
	}
	return nil
}

func elem(t reflect.Type, kind reflect.Kind) reflect.Type {
	if t != nil && t.Kind() == kind {
		return t.Elem()
	}
	return nil
}

var scalars = map[reflect.Kind]string{reflect.String: "string", reflect.Bool: "bool", reflect.Int32: "int32", reflect.Int64: "int64", reflect.Float64: "double"}

func text(t, now reflect.Type) string {
	if special.MatchString(t.Name()) {
		return definition(t, nil)
	}
	switch t.Kind() {
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + text(t.Elem(), elem(now, reflect.Slice))
	case reflect.Map:
		return "{}" + text(t.Elem(), elem(now, reflect.Map))
	case reflect.Struct:
		return definition(t, now)
	}
	if scalar, ok := scalars[t.Kind()]; ok {
		return scalar
	}
	panic("no form for " + t.String())
}
