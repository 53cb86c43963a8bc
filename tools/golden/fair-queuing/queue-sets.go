package main

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"sort"
	"time"

	"k8s.io/apiserver/pkg/util/flowcontrol/debug"
	fq "k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing"
	"k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing/queueset"
	"k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing/testing/eventclock"
	"k8s.io/apiserver/pkg/util/flowcontrol/metrics"
	fcrequest "k8s.io/apiserver/pkg/util/flowcontrol/request"

	"coxswain/tools/golden/internal/fixture"
)

// call is a request of a scenario. Its number is its flow distinguisher, so that dumps identify it.
type call struct {
	id      int
	cancel  context.CancelFunc
	started chan struct{}
	release chan struct{}
	ended   chan struct{}
}

type scenario struct {
	chance  *rand.Rand
	clock   *eventclock.Fake
	queues  fq.QueueSet
	demand  fq.Integrator
	calls   map[int]*call
	waiting []int
	running []int
	next    int
	flows   []uint64
	config  fq.QueuingConfig
	limit   int
	// wideFinals allows more final seats than the limit.
	wideFinals bool
	// miscounted is set when upstream's count of waiting seats is wrong: it is, after a request with more final seats than the limit.
	miscounted bool
	// hasLatency uses additional latencies. Then the number of queues stays, because upstream can remove the wrong queue, or panic, when
	// a queue was removed before the latency of its requests ended.
	hasLatency bool
	steps      []map[string]any
}

func recordQueueSets() {
	for seed := int64(1); seed <= 60; seed++ {
		recordScenario(seed)
	}
}

func recordScenario(seed int64) {
	chance := rand.New(rand.NewSource(seed))
	clock, _ := eventclock.NewFake(time.Unix(1700000000, 0), 0, rand.New(rand.NewSource(seed)))
	s := &scenario{chance: chance, clock: clock, calls: map[int]*call{}, wideFinals: seed%10 == 0, hasLatency: seed%2 == 0}
	s.demand = fq.NewNamedIntegrator(clock, "")
	s.flows = make([]uint64, 1+chance.Intn(8))
	for i := range s.flows {
		s.flows[i] = chance.Uint64()
	}
	s.config, s.limit = s.randomConfig(), 1+chance.Intn(12)
	completer, err := queueset.NewQueueSetFactory(clock).BeginConstruction(s.config,
		metrics.RatioedGaugePair{RequestsWaiting: ignored{}, RequestsExecuting: ignored{}}, ignored{}, s.demand)
	fixture.Must(err)
	s.queues = completer.Complete(fq.DispatchingConfig{ConcurrencyLimit: s.limit, ConcurrencyDenominator: s.limit})
	start := map[string]any{"config": configOf(s.config), "limit": s.limit}
	for n := 0; n < 120; n++ {
		s.step()
	}
	for len(s.running)+len(s.waiting) > 0 {
		s.pass()
		if len(s.running) > 0 {
			s.finish()
		} else {
			s.note(map[string]any{"do": "wait"})
		}
	}
	fixture.Write(map[string]any{"seed": seed, "start": start, "miscounted": s.miscounted, "steps": s.steps, "demand": results(s.demand.GetResults())})
}

func (s *scenario) randomConfig() fq.QueuingConfig {
	config := fq.QueuingConfig{QueueLengthLimit: 1 + s.chance.Intn(6)}
	switch s.chance.Intn(10) {
	case 0:
		config.DesiredNumQueues = 0
	case 1:
		config.DesiredNumQueues = -1
	default:
		config.DesiredNumQueues = 1 + s.chance.Intn(8)
		config.HandSize = 1 + s.chance.Intn(min(4, config.DesiredNumQueues))
	}
	return config
}

func configOf(config fq.QueuingConfig) []int {
	return []int{config.DesiredNumQueues, config.HandSize, config.QueueLengthLimit}
}

// pass lets a random time pass. Times differ, because the order of simultaneous events is random.
func (s *scenario) pass() {
	until := s.clock.Now().Add(time.Duration(1 + s.chance.Int63n([]int64{1e5, 2e6, 2e7}[s.chance.Intn(3)])))
	for next, ok := s.clock.GetNextTime(); ok && !next.After(until); next, ok = s.clock.GetNextTime() {
		s.clock.SetTime(next)
		s.settle()
	}
	s.clock.SetTime(until)
}

func (s *scenario) step() {
	s.pass()
	switch n := s.chance.Intn(20); {
	case n < 11:
		s.start()
	case n < 17 && len(s.running) > 0:
		s.finish()
	case n < 18 && len(s.waiting) > 0:
		s.cancel()
	case n == 18 && s.chance.Intn(2) == 0:
		s.configure()
	case n == 19 && s.chance.Intn(2) == 0:
		s.limit = 1 + s.chance.Intn(12)
		s.complete()
		s.note(map[string]any{"do": "limit", "limit": s.limit})
	}
}

func (s *scenario) start() {
	work := fcrequest.WorkEstimate{InitialSeats: 1}
	if s.chance.Intn(3) == 0 {
		work.InitialSeats = uint64(1 + s.chance.Intn(s.limit+2))
	}
	if s.hasLatency && s.chance.Intn(3) == 0 {
		seats := s.limit
		if s.wideFinals {
			seats += 4
		}
		work.FinalSeats = uint64(1 + s.chance.Intn(seats))
		work.AdditionalLatency = time.Duration(s.chance.Int63n(5e6))
	}
	hash := s.flows[s.chance.Intn(len(s.flows))]
	s.next++
	ctx, cancel := context.WithCancel(context.Background())
	one := &call{id: s.next, cancel: cancel, started: make(chan struct{}), release: make(chan struct{}), ended: make(chan struct{})}
	step := map[string]any{"do": "start", "id": one.id, "hash": fmt.Sprint(hash),
		"work": []any{work.InitialSeats, work.FinalSeats, work.AdditionalLatency.Nanoseconds()}}
	request, _ := s.queues.StartRequest(ctx, &work, hash, fmt.Sprint(one.id), "", nil, nil, nil)
	if request == nil {
		step["rejected"] = true
		cancel()
	} else {
		s.calls[one.id] = one
		go func() {
			request.Finish(func() {
				close(one.started)
				<-one.release
			})
			close(one.ended)
		}()
	}
	s.note(step)
}

func (s *scenario) finish() {
	id := s.running[s.chance.Intn(len(s.running))]
	close(s.calls[id].release)
	<-s.calls[id].ended
	s.note(map[string]any{"do": "finish", "id": id})
}

func (s *scenario) cancel() {
	id := s.waiting[s.chance.Intn(len(s.waiting))]
	s.calls[id].cancel()
	<-s.calls[id].ended
	s.note(map[string]any{"do": "cancel", "id": id})
}

func (s *scenario) configure() {
	queues, hand := s.config.DesiredNumQueues, s.config.HandSize
	s.config = s.randomConfig()
	if s.hasLatency {
		s.config.DesiredNumQueues, s.config.HandSize = queues, hand
	}
	s.complete()
	s.note(map[string]any{"do": "configure", "config": configOf(s.config)})
}

func (s *scenario) complete() {
	completer, err := s.queues.BeginConfigChange(s.config)
	fixture.Must(err)
	completer.Complete(fq.DispatchingConfig{ConcurrencyLimit: s.limit, ConcurrencyDenominator: s.limit})
}

func (s *scenario) note(step map[string]any) {
	step["ns"] = s.clock.Now().Sub(time.Unix(1700000000, 0)).Nanoseconds()
	step["after"] = s.settle()
	s.steps = append(s.steps, step)
}

// settle waits until the goroutines of all dispatched requests are past the queue set, and returns the state.
func (s *scenario) settle() map[string]any {
	dump := s.queues.Dump(false)
	s.waiting, s.running = nil, ids(dump.QueuelessExecutingRequests)
	queues := []any{}
	seatsWaiting := 0
	for index, queue := range dump.Queues {
		waiting, executing := ids(queue.Requests), ids(queue.RequestsExecuting)
		sort.Ints(executing)
		s.waiting, s.running = append(s.waiting, waiting...), append(s.running, executing...)
		seatsWaiting += queue.QueueSum.MaxSeatsSum
		if len(waiting)+len(executing) > 0 {
			queues = append(queues, []any{index, queue.NextDispatchR, waiting, executing, queue.SeatsInUse,
				queue.QueueSum.InitialSeatsSum, queue.QueueSum.MaxSeatsSum, queue.QueueSum.TotalWorkSum})
		}
	}
	s.miscounted = s.miscounted || seatsWaiting != dump.SeatsWaiting
	slices.Sort(s.running)
	for _, id := range s.running {
		<-s.calls[id].started
	}
	queueless := ids(dump.QueuelessExecutingRequests)
	sort.Ints(queueless)
	return map[string]any{"count": len(dump.Queues), "queues": queues, "queueless": queueless,
		"seats": []int{dump.SeatsInUse, seatsWaiting}, "requests": []int{dump.Waiting, dump.Executing, dump.Rejected, dump.Cancelled}}
}

func ids(requests []debug.RequestDump) []int {
	out := []int{}
	for _, request := range requests {
		var id int
		_, err := fmt.Sscan(request.FlowDistinguisher, &id)
		fixture.Must(err)
		out = append(out, id)
	}
	return out
}

// ignored is a gauge of metrics that are not recorded.
type ignored struct{}

func (ignored) Set(float64)            {}
func (ignored) Add(float64)            {}
func (ignored) Inc()                   {}
func (ignored) Dec()                   {}
func (ignored) SetToCurrentTime()      {}
func (ignored) SetDenominator(float64) {}
