// Prints upstream's bootstrap policy, one JSON object a line: first with all gates at their defaults, then, for each set of gates on the command line
// such as A=true,B=false, what differs from that; `spec` null is what is not there any more.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"sort"
	"strings"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	_ "k8s.io/kubernetes/pkg/features"
	policy "k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
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
	if err != nil {
		log.Fatal(err)
	}
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
	gate := utilfeature.DefaultMutableFeatureGate
	base := objects("")
	for _, key := range sorted(base) {
		fmt.Println(string(text(base[key])))
	}
	for _, gates := range os.Args[1:] {
		before := map[string]bool{}
		for _, pair := range strings.Split(gates, ",") {
			name, _, _ := strings.Cut(pair, "=")
			before[name] = gate.Enabled(featuregate.Feature(name))
		}
		if err := gate.Set(gates); err != nil {
			log.Fatal(err)
		}
		found := objects(gates)
		for _, key := range sorted(base) {
			if _, there := found[key]; !there {
				gone := base[key]
				gone.Gates, gone.Spec = gates, nil
				fmt.Println(string(text(gone)))
			}
		}
		for _, key := range sorted(found) {
			if !bytes.Equal(text(found[key].Spec), text(base[key].Spec)) {
				fmt.Println(string(text(found[key])))
			}
		}
		if err := gate.SetFromMap(before); err != nil {
			log.Fatal(err)
		}
	}
}
