// Records what upstream's environment for new CEL expressions does with the rows on standard input, and replaces their answers:
// `error` is the error of the compiler or of the evaluation, `value` the text of the result, `min` and `max` the estimated cost,
// `cost` the actual cost. `self` is declared dyn and holds `data`; `variables` declares others by the name of a type: bool, int,
// string, list, map; `unchecked` skips the type checker.
//
// With the argument `table`, each line of standard input is an expression, and the answer is a row [expression, value or error, min,
// max, cost] (table.go). With the argument `dispatch`, the program calls each function and operator with values of all types
// (dispatch.go). With the argument `declarations`, the program lists what each version declares (declarations.go).
package main

import (
	"fmt"
	"os"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"

	"coxswain/tools/golden/internal/fixture"
)

type row struct {
	Expr      string            `json:"expr"`
	Data      any               `json:"data,omitempty"`
	Variables map[string]string `json:"variables,omitempty"`
	Unchecked bool              `json:"unchecked,omitempty"`
	Error     string            `json:"error,omitempty"`
	Value     string            `json:"value,omitempty"`
	Type      string            `json:"type,omitempty"`
	Min       *uint64           `json:"min,omitempty"`
	Max       *uint64           `json:"max,omitempty"`
	Cost      *uint64           `json:"cost,omitempty"`
}

var declaredTypes = map[string]*cel.Type{
	"bool":   cel.BoolType,
	"int":    cel.IntType,
	"string": cel.StringType,
	"list":   cel.ListType(cel.StringType),
	"map":    cel.MapType(cel.StringType, cel.StringType),
}

type noHints struct{ *library.CostEstimator }

func (noHints) EstimateSize(checker.AstNode) *checker.SizeEstimate { return nil }

func main() {
	if len(os.Args) > 1 {
		map[string]func(){"table": printTable, "declarations": printDeclarations, "dispatch": printDispatch}[os.Args[1]]()
		return
	}
	base, err := environment.MustBaseEnvSet(version.MajorMinor(1, 36)).Env(environment.NewExpressions)
	fixture.Must(err)
	for given := range fixture.Rows[row]() {
		answer(base, &given)
		fixture.Write(given)
	}
}

func answer(base *cel.Env, given *row) {
	given.Error, given.Value, given.Type, given.Min, given.Max, given.Cost = "", "", "", nil, nil, nil
	defer func() { // Upstream's checks of literals panic on missing arguments.
		if failed := recover(); failed != nil {
			given.Error = fmt.Sprint("panic: ", failed)
		}
	}()
	options := []cel.EnvOption{cel.Variable("self", cel.DynType)}
	for name, of := range given.Variables {
		options = append(options, cel.Variable(name, declaredTypes[of]))
	}
	env, err := base.Extend(options...)
	fixture.Must(err)
	var ast *cel.Ast
	var issues *cel.Issues
	if given.Unchecked {
		ast, issues = env.Parse(given.Expr)
	} else {
		ast, issues = env.Compile(given.Expr)
	}
	if issues.Err() != nil {
		given.Error = issues.Err().Error()
		return
	}
	given.Type = ast.OutputType().String()
	if estimated, err := env.EstimateCost(ast, noHints{&library.CostEstimator{}}); err == nil {
		given.Min, given.Max = &estimated.Min, &estimated.Max
	}
	program, err := env.Program(ast,
		cel.EvalOptions(cel.OptOptimize, cel.OptTrackCost),
		cel.CostTracking(&library.CostEstimator{}),
		cel.CostLimit(10000000),
	)
	if err != nil {
		given.Error = "plan: " + err.Error()
		return
	}
	value, details, err := program.Eval(map[string]any{"self": whole(given.Data)})
	if details != nil {
		given.Cost = details.ActualCost()
	}
	if err != nil {
		given.Error = err.Error()
		return
	}
	given.Value = text(value)
}

// whole converts whole numbers to int64, as the API machinery decodes them.
func whole(data any) any {
	switch data := data.(type) {
	case float64:
		if data == float64(int64(data)) {
			return int64(data)
		}
	case []any:
		for i := range data {
			data[i] = whole(data[i])
		}
	case map[string]any:
		for key := range data {
			data[key] = whole(data[key])
		}
	}
	return data
}

func text(value ref.Val) string {
	return fmt.Sprintf("%s %v", value.Type().TypeName(), value.Value())
}
