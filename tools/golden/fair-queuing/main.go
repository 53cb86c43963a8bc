// Records upstream's fair queuing. The argument selects the fixture:
//
//   - deals: the hands that the dealer deals, and its errors.
//   - queue-sets: random scenarios of arrivals, ends, cancellations and configurations, with the state after each step.
//   - seat-demand: integrals of random steps.
//   - allocations, borrowing, flow-hashes: functions that upstream does not export, which a test in a copy of its package calls.
package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	fq "k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing"
	"k8s.io/apiserver/pkg/util/shufflesharding"
	testclock "k8s.io/utils/clock/testing"

	"coxswain/tools/golden/internal/fixture"
)

//go:embed _recorders/unexported_test.go
var unexportedTest []byte

func main() {
	switch os.Args[1] {
	case "deals":
		recordDeals()
	case "queue-sets":
		recordQueueSets()
	case "seat-demand":
		recordSeatDemand()
	default:
		recordUnexported(os.Args[1])
	}
}

func recordDeals() {
	chance := rand.New(rand.NewSource(11))
	sizes := [][2]int{{-100, 8}, {100, 0}, {100, 101}, {1 << 27, 2}, {512, 8}, {1024, 6}, {1, 1}, {4, 4}, {8, 8}, {10, 10}, {12, 12}, {15, 15},
		{16, 15}, {128, 8}, {128, 6}, {64, 8}, {50, 6}, {1 << 26, 2}, {10000000, 2}, {1 << 20, 3}, {17, 14}}
	hashes := []uint64{0, 1, math.MaxUint64, 1 << 32, 1<<32 - 1, 1 << 63}
	for _, size := range sizes {
		dealer, err := shufflesharding.NewDealer(size[0], size[1])
		row := map[string]any{"deck": size[0], "hand": size[1]}
		if err != nil {
			row["error"] = err.Error()
			fixture.Write(row)
			continue
		}
		deals := [][]any{}
		for n := 0; n < 20; n++ {
			hash := chance.Uint64()
			if n < len(hashes) {
				hash = hashes[n]
			}
			deals = append(deals, []any{fmt.Sprint(hash), dealer.DealIntoHand(hash, nil)})
		}
		row["deals"] = deals
		fixture.Write(row)
	}
}

func recordSeatDemand() {
	chance := rand.New(rand.NewSource(13))
	for scenario := 0; scenario < 40; scenario++ {
		clock := testclock.NewFakePassiveClock(time.Unix(1700000000, 0))
		integrator := fq.NewNamedIntegrator(clock, "")
		steps := [][]any{}
		for n := 2 + chance.Intn(30); n > 0; n-- {
			ns := chance.Int63n([]int64{1, 1000, 1e6, 3e9}[chance.Intn(4)])
			clock.SetTime(clock.Now().Add(time.Duration(ns)))
			switch chance.Intn(6) {
			case 0:
				steps = append(steps, []any{ns, "results", results(integrator.GetResults())})
			case 1:
				steps = append(steps, []any{ns, "reset", results(integrator.Reset())})
			default:
				value := float64(chance.Intn(50))
				integrator.Set(value)
				steps = append(steps, []any{ns, "set", value})
			}
		}
		fixture.Write(append(steps, []any{0, "results", results(integrator.GetResults())}))
	}
}

// results writes NaN as null.
func results(from fq.IntegratorResults) []any {
	out := []any{}
	for _, value := range []float64{from.Duration, from.Average, from.Deviation, from.Min, from.Max} {
		if math.IsNaN(value) {
			out = append(out, nil)
		} else {
			out = append(out, value)
		}
	}
	return out
}

// recordUnexported runs a test in a copy of upstream's module.
func recordUnexported(name string) {
	path, err := exec.Command("go", "list", "-C", "tools/golden", "-m", "-f", "{{.Dir}}", "k8s.io/apiserver").Output()
	fixture.Must(err)
	copied, err := os.MkdirTemp("", "coxswain-apiserver-")
	fixture.Must(err)
	defer os.RemoveAll(copied)
	fixture.Must(os.CopyFS(copied, os.DirFS(strings.TrimSpace(string(path)))))
	folder := filepath.Join(copied, "pkg/util/flowcontrol")
	fixture.Must(os.WriteFile(filepath.Join(folder, "unexported_test.go"), unexportedTest, 0o644))
	allocation := filepath.Join(folder, "conc_alloc.go")
	source, err := os.ReadFile(allocation)
	fixture.Must(err)
	function := []byte("\nfunc computeConcurrencyAllocation(")
	if bytes.Count(source, function) != 1 {
		panic("conc_alloc.go does not have computeConcurrencyAllocation once")
	}
	fixture.Must(os.Chmod(allocation, 0o644))
	fixture.Must(os.WriteFile(allocation, bytes.Replace(source, function, []byte("\nfunc allocateUnrecorded("), 1), 0o644))
	record := filepath.Join(copied, "recorded.jsonl")
	test := exec.Command("go", "test", "-count=1", "-run=TestConcAlloc|TestRecord", "./pkg/util/flowcontrol")
	test.Dir = copied
	test.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false", "GOWORK=off", "RECORDING="+record, "RECORDED="+name)
	test.Stdout, test.Stderr = os.Stderr, os.Stderr
	fixture.Must(test.Run())
	content, err := os.ReadFile(record)
	fixture.Must(err)
	_, err = os.Stdout.Write(content)
	fixture.Must(err)
}
