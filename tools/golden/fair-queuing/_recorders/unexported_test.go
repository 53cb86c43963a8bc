// Records functions of this package. It is added to a copy of the package, in which computeConcurrencyAllocation has another name.
package flowcontrol

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand"
	"os"
	"testing"

	flowcontrol "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fq "k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing"
)

const allocationsMax = 600

var recorded = os.Getenv("RECORDED")
var allocations = 0
var output = create()

func create() *json.Encoder {
	file, err := os.Create(os.Getenv("RECORDING"))
	if err != nil {
		panic(err)
	}
	return json.NewEncoder(file)
}

func write(row any) {
	if err := output.Encode(row); err != nil {
		panic(err)
	}
}

// Upstream's random test calls it.
func computeConcurrencyAllocation(seats int, classes []allocProblemItem) ([]float64, float64, error) {
	allocs, proportion, err := allocateUnrecorded(seats, classes)
	if recorded != "allocations" || allocations == allocationsMax {
		return allocs, proportion, err
	}
	allocations++
	claims := [][]float64{}
	for _, class := range classes {
		claims = append(claims, []float64{class.target, class.lowerBound, class.upperBound})
	}
	row := map[string]any{"seats": seats, "claims": claims}
	if err != nil {
		row["error"] = err.Error()
	} else {
		row["allocated"] = allocs
		row["proportion"] = proportion
	}
	write(row)
	return allocs, proportion, err
}

func TestRecordFlowHashes(t *testing.T) {
	if recorded != "flow-hashes" {
		return
	}
	for _, flow := range [][2]string{{"", ""}, {"global-default", "alice"}, {"service-accounts", "kube-system"}, {"ü", "\x00é"}, {"a\x00", "b"}, {"a", "\x00b"}} {
		write([]any{flow[0], flow[1], fmt.Sprint(hashFlowID(flow[0], flow[1]))})
	}
}

type givenDemand struct {
	fq.Integrator
	results fq.IntegratorResults
}

func (given *givenDemand) Reset() fq.IntegratorResults { return given.results }

type ignoredGauge struct{ fq.Integrator }

func (ignoredGauge) SetDenominator(float64) {}

type completer struct{ limit int }

func (c *completer) Complete(config fq.DispatchingConfig) fq.QueueSet {
	c.limit = config.ConcurrencyLimit
	return nil
}

func TestRecordBorrowing(t *testing.T) {
	if recorded != "borrowing" {
		return
	}
	chance := rand.New(rand.NewSource(17))
	for scenario := 0; scenario < 60; scenario++ {
		recordBorrowing(chance)
	}
}

func recordBorrowing(chance *rand.Rand) {
	controller := &configController{serverConcurrencyLimit: 600, priorityLevelStates: map[string]*priorityLevelState{}}
	names := []string{}
	completers := map[string]*completer{}
	levels := []map[string]any{}
	for n := 1 + chance.Intn(6); n >= 0; n-- {
		name := fmt.Sprintf("level-%d", n)
		names = append(names, name)
		nominal := chance.Intn(200)
		level := &priorityLevelState{
			pl:        &flowcontrol.PriorityLevelConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}},
			nominalCL: nominal, minCL: nominal - chance.Intn(nominal+1), maxCL: nominal + chance.Intn(400), currentCL: nominal,
		}
		if n > 0 && chance.Intn(4) == 0 {
			level.pl.Spec.Type = flowcontrol.PriorityLevelEnablementExempt
		}
		completers[name] = &completer{}
		level.qsCompleter = completers[name]
		level.seatDemandRatioedGauge = ignoredGauge{}
		controller.priorityLevelStates[name] = level
		controller.nominalCLSum += nominal
		levels = append(levels, map[string]any{"exempt": level.pl.Spec.Type == flowcontrol.PriorityLevelEnablementExempt,
			"nominal": nominal, "min": level.minCL, "max": level.maxCL})
	}
	periods := []map[string]any{}
	for n := 0; n < 5; n++ {
		period := map[string]any{}
		observed := [][]any{}
		for _, name := range names {
			demand := chance.Float64() * []float64{0.1, 1, 3}[chance.Intn(3)] * 100
			results := fq.IntegratorResults{Duration: 10, Average: demand, Deviation: demand * chance.Float64(), Max: math.Floor(demand * 3)}
			if chance.Intn(8) == 0 {
				results = fq.IntegratorResults{Average: math.NaN(), Deviation: math.NaN(), Max: results.Max}
				observed = append(observed, []any{0, nil, nil, results.Max})
			} else {
				observed = append(observed, []any{results.Duration, results.Average, results.Deviation, results.Max})
			}
			controller.priorityLevelStates[name].seatDemandIntegrator = &givenDemand{results: results}
		}
		controller.updateBorrowingLocked(false, controller.priorityLevelStates)
		limits, smoothed := []int{}, []float64{}
		for _, name := range names {
			limits = append(limits, completers[name].limit)
			smoothed = append(smoothed, controller.priorityLevelStates[name].seatDemandStats.smoothed)
		}
		period["observed"], period["limits"], period["smoothed"] = observed, limits, smoothed
		periods = append(periods, period)
	}
	write(map[string]any{"seats": controller.nominalCLSum, "levels": levels, "periods": periods})
}
