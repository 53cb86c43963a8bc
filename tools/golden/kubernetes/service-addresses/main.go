// Records what upstream's repair of service addresses does in random clusters, and snapshots of its bitmap of node ports.
package main

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	"k8s.io/kubernetes/pkg/registry/core/service/allocator"
	"k8s.io/kubernetes/pkg/registry/core/service/ipallocator/controller"

	"coxswain/tools/golden/internal/fixture"
)

type service struct {
	Name       string   `json:"name"`
	Type       string   `json:"type"`
	ClusterIPs []string `json:"clusterIPs,omitempty"`
}

type address struct {
	Name       string            `json:"name"`
	Labels     map[string]string `json:"labels,omitempty"`
	Resource   string            `json:"resource"`
	Parent     string            `json:"parent"`
	AgeSeconds int               `json:"ageSeconds"`
}

type cluster struct {
	Cidrs     []string  `json:"cidrs"`
	Services  []service `json:"services"`
	Addresses []address `json:"addresses"`
	// What remains, and the Events.
	Result []string `json:"result"`
	Events []string `json:"events"`
}

const seed = 7

func randomCluster(random *rand.Rand) cluster {
	made := cluster{Addresses: []address{}, Cidrs: [][]string{{"10.0.0.0/24", "fd00::/112"}, {"10.0.0.0/28"}}[random.Intn(2)]}
	free := []string{"10.0.0.1", "10.0.0.2", "10.0.0.15", "10.0.0.16", "10.0.0.255", "10.0.1.1", "fd00::1", "fd00::ff"}
	random.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
	used := []string{}
	for i := range 3 {
		one := service{Name: fmt.Sprintf("s%d", i), Type: "ClusterIP", ClusterIPs: free[:1]}
		switch random.Intn(6) {
		case 0:
			one.Type, one.ClusterIPs = "ExternalName", nil
		case 1:
			one.ClusterIPs = []string{"None"}
		default:
			used, free = append(used, free[0]), free[1:]
		}
		made.Services = append(made.Services, one)
	}
	for _, name := range append(used, free[:2]...) {
		if random.Intn(4) == 0 {
			continue
		}
		one := address{Name: name, Resource: "services", Parent: fmt.Sprintf("s%d", random.Intn(4)), AgeSeconds: 1000}
		for _, owner := range made.Services {
			if slices.Contains(owner.ClusterIPs, name) && random.Intn(2) == 0 {
				one.Parent = owner.Name
			}
		}
		if random.Intn(6) == 0 {
			one.Resource = "gateways"
		}
		if random.Intn(3) == 0 {
			one.AgeSeconds = 30
		}
		family := "IPv4"
		if strings.Contains(name, ":") != (random.Intn(8) == 0) {
			family = "IPv6"
		}
		one.Labels = map[string]string{networking.LabelIPAddressFamily: family, networking.LabelManagedBy: "ipallocator.k8s.io"}
		if random.Intn(6) == 0 {
			one.Labels[networking.LabelManagedBy] = "other"
		}
		made.Addresses = append(made.Addresses, one)
	}
	return made
}

func objectsOf(made cluster, now time.Time) []runtime.Object {
	objects := []runtime.Object{&networking.ServiceCIDR{ObjectMeta: meta.ObjectMeta{Name: "kubernetes"}, Spec: networking.ServiceCIDRSpec{CIDRs: made.Cidrs}}}
	for _, one := range made.Services {
		spec := core.ServiceSpec{Type: core.ServiceType(one.Type), ClusterIPs: one.ClusterIPs}
		if len(one.ClusterIPs) > 0 {
			spec.ClusterIP = one.ClusterIPs[0]
		}
		created := meta.NewTime(now.Add(-500 * time.Second))
		objects = append(objects, &core.Service{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: one.Name, UID: types.UID(one.Name), CreationTimestamp: created}, Spec: spec})
	}
	for _, one := range made.Addresses {
		created := meta.NewTime(now.Add(-time.Duration(one.AgeSeconds) * time.Second))
		objects = append(objects, &networking.IPAddress{
			ObjectMeta: meta.ObjectMeta{Name: one.Name, UID: types.UID(one.Name), Labels: one.Labels, CreationTimestamp: created},
			Spec:       networking.IPAddressSpec{ParentRef: &networking.ParentReference{Resource: one.Resource, Namespace: "ns", Name: one.Parent}},
		})
	}
	return objects
}

func repair(made *cluster) {
	client := fake.NewClientset(objectsOf(*made, time.Now())...)
	factory := informers.NewSharedInformerFactory(client, 0)
	repairs := controller.NewRepairIPAddress(3*time.Minute, client, factory.Core().V1().Services(), factory.Networking().V1().ServiceCIDRs(), factory.Networking().V1().IPAddresses())
	stop, done := make(chan struct{}), make(chan struct{})
	factory.Start(stop)
	factory.WaitForCacheSync(stop)
	go repairs.RunUntil(func() { close(done) }, stop)
	<-done
	time.Sleep(300 * time.Millisecond)
	left, err := client.NetworkingV1().IPAddresses().List(context.Background(), meta.ListOptions{})
	fixture.Must(err)
	made.Result, made.Events = []string{}, []string{}
	for _, one := range left.Items {
		made.Result = append(made.Result, fmt.Sprintf("%s %s,%s %s/%s", one.Name, one.Labels[networking.LabelIPAddressFamily], one.Labels[networking.LabelManagedBy], one.Spec.ParentRef.Resource, one.Spec.ParentRef.Name))
	}
	events, err := client.EventsV1().Events("").List(context.Background(), meta.ListOptions{})
	fixture.Must(err)
	for _, one := range events.Items {
		made.Events = append(made.Events, fmt.Sprintf("%s %s %s %s", one.Regarding.Name, one.Reason, one.Action, one.Note))
	}
	slices.Sort(made.Result)
	slices.Sort(made.Events)
	made.Events = slices.Compact(made.Events)
	close(stop)
}

type snapshot struct {
	Size  int    `json:"size"`
	Ports []int  `json:"ports"`
	Data  []byte `json:"data"`
}

func snapshots(random *rand.Rand) {
	for _, size := range []int{1, 8, 9, 17, 64, 100, 2768, 65536} {
		for range 4 {
			bitmap := allocator.NewAllocationMap(size, "range")
			row := snapshot{Size: size, Ports: []int{}}
			for range random.Intn(6) {
				at := random.Intn(size)
				if ok, _ := bitmap.Allocate(at); ok {
					row.Ports = append(row.Ports, at)
				}
			}
			slices.Sort(row.Ports)
			_, row.Data = bitmap.Snapshot()
			fixture.Write(row)
		}
	}
}

func main() {
	random := rand.New(rand.NewSource(seed))
	if len(os.Args) > 1 && os.Args[1] == "ports" {
		snapshots(random)
		return
	}
	made := []cluster{}
	for range 100 {
		made = append(made, randomCluster(random))
	}
	for _, one := range made {
		if recorded, agree := repairs(one); agree {
			fixture.Write(recorded)
		}
	}
}

const runs = 8

// Runs the repair several times: its informers may lag, and its workers run at the same time, so that some clusters have several results.
func repairs(made cluster) (cluster, bool) {
	results := make([]cluster, runs)
	var group sync.WaitGroup
	for i := range results {
		results[i] = made
		group.Go(func() { repair(&results[i]) })
	}
	group.Wait()
	for _, one := range results {
		if !reflect.DeepEqual(one, results[0]) {
			return made, false
		}
	}
	return results[0], true
}
