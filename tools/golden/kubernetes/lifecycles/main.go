// Records how feature gates and kinds of the API change between releases: of each gate, its stages by the release that begins them and the
// gates that it needs; of each kind, the releases that introduce, deprecate and remove it. Then, of each group, the order of its versions.
package main

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	logsapi "k8s.io/component-base/logs/api/v1"
	metrics "k8s.io/component-base/metrics/features"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/admission/install"
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/apiserverinternal/install"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/authentication/install"
	_ "k8s.io/kubernetes/pkg/apis/authorization/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/extensions/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/imagepolicy/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	_ "k8s.io/kubernetes/pkg/apis/storagemigration/install"
	_ "k8s.io/kubernetes/pkg/features"

	"coxswain/tools/golden/internal/fixture"
)

type stage struct {
	Since   string `json:"since"`
	Stage   string `json:"stage"`
	Default bool   `json:"default"`
	Locked  bool   `json:"locked,omitempty"`
}

type gate struct {
	Gate   string                `json:"gate"`
	Stages []stage               `json:"stages"`
	Needs  []featuregate.Feature `json:"needs,omitempty"`
}

type kind struct {
	Group       string `json:"group"`
	Version     string `json:"version"`
	Kind        string `json:"kind"`
	Introduced  string `json:"introduced,omitempty"`
	Deprecated  string `json:"deprecated,omitempty"`
	Removed     string `json:"removed,omitempty"`
	Replacement string `json:"replacement,omitempty"`
}

type versions struct {
	Group    string   `json:"group"`
	Versions []string `json:"versions"`
}

type introduced interface{ APILifecycleIntroduced() (int, int) }
type deprecated interface{ APILifecycleDeprecated() (int, int) }
type removed interface{ APILifecycleRemoved() (int, int) }
type replaced interface {
	APILifecycleReplacement() schema.GroupVersionKind
}

func release(major, minor int) string { return fmt.Sprintf("%d.%d", major, minor) }

func writeGates() {
	gates := utilfeature.DefaultMutableFeatureGate
	fixture.Must(logsapi.AddFeatureGates(gates))
	fixture.Must(metrics.AddFeatureGates(gates))
	known := gates.GetAllVersioned()
	needs := gates.Dependencies()
	names := make([]featuregate.Feature, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		row := gate{Gate: string(name), Needs: needs[name]}
		for _, spec := range known[name] {
			if spec.MinCompatibilityVersion != nil {
				panic(fmt.Sprintf("the stage of %s depends on the minimum compatibility version, which rows do not have", name))
			}
			stageName := string(spec.PreRelease)
			if stageName == "" {
				stageName = "GA"
			}
			row.Stages = append(row.Stages, stage{spec.Version.String(), stageName, spec.Default, spec.LockToDefault})
		}
		fixture.Write(row)
	}
}

func kindOf(gvk schema.GroupVersionKind, object runtime.Object) kind {
	row := kind{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind}
	if one, ok := object.(introduced); ok {
		row.Introduced = release(one.APILifecycleIntroduced())
	}
	if one, ok := object.(deprecated); ok {
		row.Deprecated = release(one.APILifecycleDeprecated())
	}
	if one, ok := object.(removed); ok {
		row.Removed = release(one.APILifecycleRemoved())
	}
	if one, ok := object.(replaced); ok {
		to := one.APILifecycleReplacement()
		row.Replacement = to.Group + "/" + to.Version + "/" + to.Kind
	}
	return row
}

func writeKinds() {
	known := legacyscheme.Scheme.AllKnownTypes()
	names := make([]schema.GroupVersionKind, 0, len(known))
	for gvk := range known {
		if gvk.Version != runtime.APIVersionInternal {
			names = append(names, gvk)
		}
	}
	slices.SortFunc(names, func(a, b schema.GroupVersionKind) int {
		return slices.Compare([]string{a.Group, a.Version, a.Kind}, []string{b.Group, b.Version, b.Kind})
	})
	for _, gvk := range names {
		object, err := legacyscheme.Scheme.New(gvk)
		fixture.Must(err)
		if row := kindOf(gvk, object); row.Introduced != "" || row.Removed != "" {
			fixture.Write(row)
		}
	}
}

func writeVersions() {
	order := map[string][]string{}
	var groups []string
	for _, gv := range legacyscheme.Scheme.PrioritizedVersionsAllGroups() {
		if order[gv.Group] == nil {
			groups = append(groups, gv.Group)
		}
		order[gv.Group] = append(order[gv.Group], gv.Version)
	}
	slices.Sort(groups)
	for _, group := range groups {
		fixture.Write(versions{group, order[group]})
	}
}

func main() {
	writeGates()
	writeKinds()
	writeVersions()
}
