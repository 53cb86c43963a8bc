// Adds to each world on standard input what upstream's node authorizer says of its requests: decision and reason.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	certificates "k8s.io/api/certificates/v1beta1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/pkg/auth/nodeidentifier"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/node"
	policy "k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
)

type world struct {
	Gates    string                  `json:"gates"`
	Pods     []core.Pod              `json:"pods"`
	Volumes  []core.PersistentVolume `json:"volumes"`
	Own      []own                   `json:"own"`
	Requests []request               `json:"requests"`
}

type own struct{ Kind, Namespace, Name, Node string }

type request struct {
	User                                                               string
	Groups                                                             []string
	Verb, Group, Resource, Subresource, Namespace, Name, FieldSelector string
}

func graphOf(w world) *node.Graph {
	graph := node.NewGraph()
	for i := range w.Pods {
		graph.AddPod(&w.Pods[i])
	}
	for i := range w.Volumes {
		graph.AddPV(&w.Volumes[i])
	}
	for _, each := range w.Own {
		switch each.Kind {
		case "volumeattachment":
			graph.AddVolumeAttachment(each.Name, each.Node)
		case "resourceslice":
			graph.AddResourceSlice(each.Name, each.Node)
		case "podcertificaterequest":
			graph.AddPodCertificateRequest(&certificates.PodCertificateRequest{
				ObjectMeta: meta.ObjectMeta{Namespace: each.Namespace, Name: each.Name},
				Spec:       certificates.PodCertificateRequestSpec{NodeName: types.NodeName(each.Node)},
			})
		}
	}
	return graph
}

func attributes(r request) authorizer.Attributes {
	record := authorizer.AttributesRecord{
		User: &user.DefaultInfo{Name: r.User, Groups: r.Groups}, Verb: r.Verb, APIGroup: r.Group, APIVersion: "v1", Resource: r.Resource,
		Subresource: r.Subresource, Namespace: r.Namespace, Name: r.Name, ResourceRequest: true,
	}
	if r.FieldSelector != "" {
		selector, err := fields.ParseSelector(r.FieldSelector)
		if err != nil {
			log.Fatal(err)
		}
		record.FieldSelectorRequirements = selector.Requirements()
	}
	return record
}

func answers(w world) [][2]string {
	nodes := node.NewAuthorizer(graphOf(w), nodeidentifier.NewDefaultNodeIdentifier(), policy.NodeRules())
	found := [][2]string{}
	for _, r := range w.Requests {
		decision, reason, err := nodes.Authorize(context.Background(), attributes(r))
		if err != nil {
			log.Fatal(err)
		}
		name := map[authorizer.Decision]string{authorizer.DecisionAllow: "allow", authorizer.DecisionDeny: "deny", authorizer.DecisionNoOpinion: "noOpinion"}[decision]
		found = append(found, [2]string{name, reason})
	}
	return found
}

// Sets the gates for as long as the function runs.
func withGates(gates string, run func()) {
	gate := utilfeature.DefaultMutableFeatureGate
	before := map[string]bool{}
	for _, pair := range strings.Split(gates, ",") {
		if name, _, given := strings.Cut(pair, "="); given {
			before[name] = gate.Enabled(featuregate.Feature(name))
		}
	}
	if err := gate.Set(gates); err != nil {
		log.Fatal(err)
	}
	run()
	if err := gate.SetFromMap(before); err != nil {
		log.Fatal(err)
	}
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var w world
		if err := json.Unmarshal(lines.Bytes(), &w); err != nil {
			log.Fatal(err)
		}
		whole := map[string]any{}
		if err := json.Unmarshal(lines.Bytes(), &whole); err != nil {
			log.Fatal(err)
		}
		withGates(w.Gates, func() { whole["answers"] = answers(w) })
		text, err := json.Marshal(whole)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(text))
	}
}
