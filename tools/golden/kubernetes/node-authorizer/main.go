// Adds the decision and reason of upstream's node authorizer to the requests of each cluster on standard input.
package main

import (
	"context"
	"encoding/json"

	certificates "k8s.io/api/certificates/v1beta1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/kubernetes/pkg/auth/nodeidentifier"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/node"
	policy "k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"

	"coxswain/tools/golden/internal/fixture"
	"coxswain/tools/golden/kubernetes/internal/gates"
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
		fixture.Must(err)
		record.FieldSelectorRequirements = selector.Requirements()
	}
	return record
}

func answers(w world) [][2]string {
	nodes := node.NewAuthorizer(graphOf(w), nodeidentifier.NewDefaultNodeIdentifier(), policy.NodeRules())
	found := [][2]string{}
	for _, r := range w.Requests {
		decision, reason, err := nodes.Authorize(context.Background(), attributes(r))
		fixture.Must(err)
		name := map[authorizer.Decision]string{authorizer.DecisionAllow: "allow", authorizer.DecisionDeny: "deny", authorizer.DecisionNoOpinion: "noOpinion"}[decision]
		found = append(found, [2]string{name, reason})
	}
	return found
}

func main() {
	for line := range fixture.Lines() {
		var w world
		fixture.Must(json.Unmarshal(line, &w))
		row := map[string]any{}
		fixture.Must(json.Unmarshal(line, &row))
		gates.With(w.Gates, func() { row["answers"] = answers(w) })
		fixture.Write(row)
	}
}
