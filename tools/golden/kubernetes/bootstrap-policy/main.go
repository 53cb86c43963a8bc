// Records upstream's bootstrap RBAC policy: first with all feature gates at their defaults, then, for each argument such as
// A=true,B=false or 1.34, the differences with these gates or at this emulated version. `spec` is null for an object that the gates remove.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"sort"

	_ "k8s.io/kubernetes/pkg/features"
	policy "k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"

	"coxswain/tools/golden/internal/fixture"
	"coxswain/tools/golden/kubernetes/internal/gates"
)

type line struct {
	Gates     string            `json:"gates"`
	Kind      string            `json:"kind"`
	Namespace string            `json:"namespace"`
	Name      string            `json:"name"`
	Labels    map[string]string `json:"labels"`
	Spec      any               `json:"spec"`
}

func objects(gates string) map[string]line {
	found := map[string]line{}
	put := func(kind, namespace, name string, labels map[string]string, spec any) {
		found[fmt.Sprintf("%s %s/%s", kind, namespace, name)] = line{gates, kind, namespace, name, labels, spec}
	}
	for _, role := range append(policy.ClusterRoles(), policy.ControllerRoles()...) {
		put("ClusterRole", "", role.Name, role.Labels, map[string]any{"rules": role.Rules, "aggregationRule": role.AggregationRule})
	}
	for _, binding := range append(policy.ClusterRoleBindings(), policy.ControllerRoleBindings()...) {
		put("ClusterRoleBinding", "", binding.Name, binding.Labels, map[string]any{"roleRef": binding.RoleRef, "subjects": binding.Subjects})
	}
	for namespace, roles := range policy.NamespaceRoles() {
		for _, role := range roles {
			put("Role", namespace, role.Name, role.Labels, map[string]any{"rules": role.Rules})
		}
	}
	for namespace, bindings := range policy.NamespaceRoleBindings() {
		for _, binding := range bindings {
			put("RoleBinding", namespace, binding.Name, binding.Labels, map[string]any{"roleRef": binding.RoleRef, "subjects": binding.Subjects})
		}
	}
	put("NodeRules", "", "", nil, map[string]any{"rules": policy.NodeRules()})
	return found
}

func text(value any) []byte {
	encoded, err := json.Marshal(value)
	fixture.Must(err)
	return encoded
}

func sorted(found map[string]line) []string {
	keys := make([]string, 0, len(found))
	for key := range found {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

func main() {
	base := objects("")
	for _, key := range sorted(base) {
		fixture.Write(base[key])
	}
	for _, settings := range os.Args[1:] {
		var found map[string]line
		gates.With(settings, func() { found = objects(settings) })
		for _, key := range sorted(base) {
			if _, exists := found[key]; !exists {
				removed := base[key]
				removed.Gates, removed.Spec = settings, nil
				fixture.Write(removed)
			}
		}
		for _, key := range sorted(found) {
			if !bytes.Equal(text(found[key].Spec), text(base[key].Spec)) {
				fixture.Write(found[key])
			}
		}
	}
}
