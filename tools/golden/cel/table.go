package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"

	"coxswain/tools/golden/internal/fixture"
)

// Types of the variables of all expressions; tableValues has their values, tableHints their sizes.
var tableVariables = []cel.EnvOption{
	cel.Variable("s", cel.StringType),
	cel.Variable("b", cel.BytesType),
	cel.Variable("l", cel.ListType(cel.StringType)),
	cel.Variable("n", cel.ListType(cel.IntType)),
	cel.Variable("d", cel.DynType),
	cel.Variable("authorizer", library.AuthorizerType),
}

var tableValues = map[string]any{
	"s":          "The quick brown fox jumps over the lazy dog",
	"b":          []byte("some bytes"),
	"l":          []string{"one", "two", "three"},
	"n":          []int64{3, 1, 2},
	"d":          []any{"a", int64(1)},
	"authorizer": library.NewAuthorizerVal(&user.DefaultInfo{Name: "me"}, byVerb{}),
}

type tableHints struct{}

func (tableHints) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}

func (tableHints) EstimateSize(element checker.AstNode) *checker.SizeEstimate {
	sizes := map[string]uint64{"s": 100, "b": 64, "l": 10, "l.@items": 20, "n": 12}
	if size, known := sizes[strings.Join(element.Path(), ".")]; known {
		return &checker.SizeEstimate{Max: size}
	}
	return nil
}

// byVerb allows `get` and fails for `fail`; its reason lists the attributes.
type byVerb struct{}

func (byVerb) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	asked := strings.Join([]string{a.GetUser().GetName(), a.GetVerb(), a.GetPath(), a.GetAPIGroup(), a.GetResource(), a.GetSubresource(), a.GetNamespace(), a.GetName()}, "|")
	switch a.GetVerb() {
	case "get":
		return authorizer.DecisionAllow, asked, nil
	case "fail":
		return authorizer.DecisionNoOpinion, asked, errors.New("broken")
	}
	return authorizer.DecisionDeny, asked, nil
}

func printTable() {
	base, err := environment.MustBaseEnvSet(version.MajorMinor(1, 36)).Env(environment.NewExpressions)
	fixture.Must(err)
	env, err := base.Extend(append(tableVariables, library.JSONPatch())...)
	fixture.Must(err)
	for line := range fixture.Lines() {
		fixture.Write(tableRow(env, string(line)))
	}
}

func tableRow(env *cel.Env, expression string) (row []any) {
	defer func() { // Upstream's checks of literals panic on missing arguments.
		if failed := recover(); failed != nil {
			row = []any{expression, fmt.Sprint("panic: ", failed)}
		}
	}()
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		return []any{expression, firstLines(issues.Err().Error())}
	}
	estimated, err := env.EstimateCost(ast, &library.CostEstimator{SizeEstimator: tableHints{}})
	if err != nil {
		log.Fatal(expression, err)
	}
	row = []any{expression, "", exact(estimated.Min), exact(estimated.Max)}
	program, err := env.Program(ast,
		cel.EvalOptions(cel.OptOptimize, cel.OptTrackCost),
		cel.CostTracking(&library.CostEstimator{}),
		cel.CostLimit(10000000),
	)
	if err != nil {
		row[1] = "plan: " + err.Error()
		return row
	}
	value, details, err := program.Eval(tableValues)
	if err != nil {
		row[1] = "error: " + err.Error()
	} else {
		row[1] = canonical(value)
	}
	return append(row, *details.ActualCost())
}

// exact returns text for a number that a double cannot hold.
func exact(number uint64) any {
	if number < 1<<53 {
		return number
	}
	return strconv.FormatUint(number, 10)
}

// firstLines removes the excerpts of the source.
func firstLines(complaints string) string {
	kept := []string{}
	for _, line := range strings.Split(complaints, "\n") {
		if !strings.HasPrefix(line, " | ") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

func canonical(value ref.Val) string {
	switch value := value.(type) {
	case types.String:
		quoted := &strings.Builder{}
		encoder := json.NewEncoder(quoted)
		encoder.SetEscapeHTML(false)
		fixture.Must(encoder.Encode(string(value)))
		return strings.TrimSuffix(quoted.String(), "\n")
	case types.Bytes:
		return fmt.Sprintf("b%x", []byte(value))
	case types.Uint:
		return fmt.Sprintf("%du", uint64(value))
	case types.Double:
		if math.IsNaN(float64(value)) {
			return "NaN"
		}
		return fmt.Sprintf("d%016x", math.Float64bits(float64(value)))
	case types.Duration:
		return fmt.Sprintf("duration(%d)", value.Duration.Nanoseconds())
	case types.Timestamp:
		return value.Format(time.RFC3339Nano)
	case types.Null:
		return "null"
	case *types.Optional:
		if !value.HasValue() {
			return "none"
		}
		return "of(" + canonical(value.GetValue()) + ")"
	case *types.Type:
		return "type(" + value.TypeName() + ")"
	case apiservercel.URL:
		return "URL(" + value.URL.String() + ")"
	case apiservercel.IP:
		return "IP(" + value.Addr.String() + ")"
	case apiservercel.CIDR:
		return "CIDR(" + value.Prefix.String() + ")"
	case apiservercel.Semver:
		return "Semver(" + value.Version.String() + ")"
	case apiservercel.Format:
		return "NamedFormat(" + value.Name + ")"
	case traits.Lister:
		items := []string{}
		for it := value.Iterator(); it.HasNext() == types.True; {
			items = append(items, canonical(it.Next()))
		}
		return "[" + strings.Join(items, ",") + "]"
	case traits.Mapper:
		entries := []string{}
		for it := value.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			entries = append(entries, canonical(key)+":"+canonical(value.Get(key)))
		}
		sort.Strings(entries)
		return "{" + strings.Join(entries, ",") + "}"
	}
	if primitive := fmt.Sprint(value.Value()); value.Type() == types.IntType || value.Type() == types.BoolType {
		return primitive
	}
	return value.Type().TypeName()
}
