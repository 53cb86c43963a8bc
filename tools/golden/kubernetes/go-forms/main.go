// Lists the fields of upstream's internal types, which messages print: of a pod's spec, of volumes, networks, flow control and devices.
// Each type has its fields in order as `GoName jsonName kind`; `^` before a JSON name means that the field is one struct further out in the versioned type. Kinds:
// how an absent value is printed (`""`, `0`, `false`, `null`), `*` a pointer, `[]` a list and `map` a map of a kind, `omit` a field
// that is left out, `meta…` a type with JSON names of its own, or another type.
package main

import (
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	v1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/flowcontrol"
	"k8s.io/kubernetes/pkg/apis/networking"
	"k8s.io/kubernetes/pkg/apis/resource"
	"k8s.io/kubernetes/pkg/apis/storage"
)

var types = map[string][]string{}

// Fields that are in another struct at v1.
var moved = map[string]string{"PodSecurityContext.HostNetwork": "^hostNetwork", "PodSecurityContext.HostPID": "^hostPID", "PodSecurityContext.HostIPC": "^hostIPC", "PodSecurityContext.ShareProcessNamespace": "^shareProcessNamespace", "PodSecurityContext.HostUsers": "^hostUsers"}

var packages = map[string]string{}

func walk(in, out reflect.Type) {
	if before, ok := packages[in.Name()]; ok && before != in.PkgPath() {
		panic("two types have the name " + in.Name())
	}
	packages[in.Name()] = in.PkgPath()
	if _, done := types[in.Name()]; done {
		return
	}
	types[in.Name()] = nil
	types[in.Name()] = fields(in, out, in.Name())
}

func fields(in, out reflect.Type, owner string) (lines []string) {
	for i := 0; i < in.NumField(); i++ {
		f := in.Field(i)
		if f.Anonymous && f.Name == "ObjectMeta" { // Has names of its own in JSON.
			for _, name := range strings.Fields("name generateName namespace selfLink uid resourceVersion generation creationTimestamp deletionTimestamp deletionGracePeriodSeconds labels annotations ownerReferences finalizers managedFields") {
				lines = append(lines, name+" "+name+" omit")
			}
			continue
		}
		if f.Anonymous {
			o := out
			if g, ok := out.FieldByName(f.Name); ok {
				o = g.Type
			}
			lines = append(lines, fields(f.Type, o, owner)...)
			continue
		}
		g, ok := out.FieldByName(f.Name)
		json := strings.Split(g.Tag.Get("json"), ",")[0]
		if m, isMoved := moved[owner+"."+f.Name]; isMoved {
			json, ok = m, true
			lines = append(lines, fmt.Sprintf("%s %s %s", f.Name, json, plain(f.Type)))
			continue
		}
		if !ok {
			fmt.Fprintln(os.Stderr, "no v1 field", owner, f.Name)
			continue
		}
		lines = append(lines, fmt.Sprintf("%s %s %s", f.Name, json, kind(f.Type, g.Type)))
	}
	return lines
}

func plain(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Ptr, reflect.Slice, reflect.Map:
		return "null"
	case reflect.Bool:
		return "false"
	case reflect.String:
		return "\"\""
	}
	return "0"
}

func kind(in, out reflect.Type) string {
	if strings.HasSuffix(in.PkgPath(), "/intstr") || strings.HasSuffix(in.PkgPath(), "/api/resource") {
		return "0" + in.Name()
	}
	if in.Name() == "RawExtension" || in.Name() == "Condition" || deref(in).Name() == "Time" { // Written as they are.
		return "null"
	}
	if in.PkgPath() == "k8s.io/apimachinery/pkg/apis/meta/v1" {
		return "meta" + in.Name()
	}
	switch in.Kind() {
	case reflect.Ptr:
		return "*" + kind(in.Elem(), deref(out))
	case reflect.Slice:
		return "[]" + kind(in.Elem(), deref(out).Elem())
	case reflect.Map:
		return "map" + kind(in.Elem(), deref(out).Elem())
	case reflect.Struct:
		walk(in, deref(out))
		return in.Name()
	}
	return plain(in)
}

func deref(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Ptr {
		return t.Elem()
	}
	return t
}

func main() {
	walk(reflect.TypeOf(core.PodSpec{}), reflect.TypeOf(v1.PodSpec{}))
	walk(reflect.TypeOf(core.PodIP{}), reflect.TypeOf(v1.PodIP{}))
	walk(reflect.TypeOf(core.HostIP{}), reflect.TypeOf(v1.HostIP{}))
	walk(reflect.TypeOf(core.Container{}), reflect.TypeOf(v1.Container{}))
	walk(reflect.TypeOf(core.PersistentVolumeSource{}), reflect.TypeOf(v1.PersistentVolumeSource{}))
	walk(reflect.TypeOf(core.VolumeNodeAffinity{}), reflect.TypeOf(v1.VolumeNodeAffinity{}))
	walk(reflect.TypeOf(storage.VolumeAttachmentSpec{}), reflect.TypeOf(storagev1.VolumeAttachmentSpec{}))
	walk(reflect.TypeOf(storage.CSINodeDriver{}), reflect.TypeOf(storagev1.CSINodeDriver{}))
	walk(reflect.TypeOf(networking.ParentReference{}), reflect.TypeOf(networkingv1.ParentReference{}))
	walk(reflect.TypeOf(flowcontrol.FlowSchemaSpec{}), reflect.TypeOf(flowcontrolv1.FlowSchemaSpec{}))
	walk(reflect.TypeOf(flowcontrol.PriorityLevelConfigurationSpec{}), reflect.TypeOf(flowcontrolv1.PriorityLevelConfigurationSpec{}))
	walk(reflect.TypeOf(resource.ResourceClaimSpec{}), reflect.TypeOf(resourcev1.ResourceClaimSpec{}))
	walk(reflect.TypeOf(resource.ResourceClaimStatus{}), reflect.TypeOf(resourcev1.ResourceClaimStatus{}))
	walk(reflect.TypeOf(resource.ResourceClaimTemplateSpec{}), reflect.TypeOf(resourcev1.ResourceClaimTemplateSpec{}))
	walk(reflect.TypeOf(resource.DeviceClassSpec{}), reflect.TypeOf(resourcev1.DeviceClassSpec{}))
	walk(reflect.TypeOf(resource.ResourceSliceSpec{}), reflect.TypeOf(resourcev1.ResourceSliceSpec{}))
	walk(reflect.TypeOf(resource.DeviceTaintRuleSpec{}), reflect.TypeOf(resourcev1beta2.DeviceTaintRuleSpec{}))
	names := []string{}
	for n := range types {
		names = append(names, n)
	}
	sort.Strings(names)
	fmt.Println("{")
	for i, n := range names {
		comma := ","
		if i == len(names)-1 {
			comma = ""
		}
		fmt.Printf("  %q: %q%s\n", n, strings.Join(types[n], ";"), comma)
	}
	fmt.Println("}")
}
