package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"

	"coxswain/tools/golden/internal/fixture"
)

// dispatchValues has a value of each type, and more of those whose elements are tested when a call is made.
var dispatchValues = [][2]string{
	{"null", "null"},
	{"bool", "true"},
	{"int", "2"},
	{"uint", "3u"},
	{"double", "1.5"},
	{"nan", "double('NaN')"},
	{"string", "'ab'"},
	{"bytes", "b'ab'"},
	{"timestamp", "timestamp('2026-01-02T03:04:05+01:00')"},
	{"duration", "duration('90s')"},
	{"ints", "[2, 1]"},
	{"strings", "['b', 'a']"},
	{"mixed", "[dyn(1), dyn('a'), dyn(null)]"},
	{"empty", "[]"},
	{"lists", "[[1], [2]]"},
	{"optionals", "[optional.of(1), optional.none()]"},
	{"map", "{'ab': 1}"},
	{"intmap", "{2: 'two'}"},
	{"type", "dyn(int)"},
	{"some", "optional.of(2)"},
	{"none", "optional.none()"},
	{"somelist", "optional.of([1])"},
	{"url", "url('https://a.b/c')"},
	{"quantity", "quantity('1k')"},
	{"ip", "ip('10.0.0.1')"},
	{"cidr", "cidr('10.0.0.0/8')"},
	{"semver", "semver('1.2.3')"},
	{"format", "format.named('dns1123Label').value()"},
	{"decision", "authorizer.path('/a').check('get')"},
}

// dispatchThird are the values of calls with three arguments.
var dispatchThird = []string{"null", "int", "uint", "string", "ints", "strings", "map", "some"}

// dispatchTemplates are the calls that no declaration has, and operators.
var dispatchTemplates = []string{
	"-x", "!x", "x + y", "x - y", "x * y", "x / y", "x % y", "x < y", "x <= y", "x > y", "x >= y", "x == y", "x != y", "x in y",
	"x && y", "x || y", "x ? y : 0", "x[y]", "x[?y]", "x.ab", "x.?ab", "has(x.ab)", "{x: 1}", "x in [dyn(1), dyn('ab'), dyn(null)]",
	"x in [dyn([2, 1]), dyn(duration('90s'))]", "x in [1, 2]", "x in ['ab', 'b']", "x.all(i, true)", "x.exists(i, i == 1)", "x.exists_one(i, i == 1)", "x.map(i, i)", "x.filter(i, true)", "x.all(i, v, true)",
	"x.exists(i, v, v == 1)", "x.existsOne(i, v, v == 1)", "x.transformList(i, v, v)", "x.transformMap(i, v, v)", "x.transformMapEntry(i, v, {v: i})",
	"x.sortBy(i, i)", "x.optMap(v, v)", "x.optFlatMap(v, optional.of(v))",
}

// Each argument is a variable of its static type (s), a dyn variable (d), an expression whose type the checker leaves free (f), or a
// list whose elements have a free type (l).
var argumentForms = map[byte]string{'s': "TYPE_typed", 'd': "ARGUMENT_value", 'f': "ARGUMENT_list.reverse()[0]", 'l': "ARGUMENT_value.reverse()"}

// operatorForms and functionForms are combinations of argument forms by the number of arguments.
var (
	operatorForms = map[int][]string{1: {"s", "d", "f", "l"}, 2: {"ss", "sd", "sf", "ds", "dd", "fs", "ff", "ls", "ld", "ll"}}
	functionForms = map[int][]string{1: {"s", "d", "f", "l"}, 2: {"ss", "sd", "dd", "ff", "ld"}, 3: {"ddd", "sdd", "fff", "ldd"}}
)

type dispatcher struct {
	env    *cel.Env
	values map[string]ref.Val
	lists  map[string]bool
	names  []string
}

// printDispatch prints the values, and then for each call and each combination of argument forms the outcomes: `rest` is the most
// frequent one, `others` has each other one with the values that lead to it. An outcome has the cost after `@`.
func printDispatch() {
	fixture.Write(dispatchValues)
	calls := newDispatcher()
	for _, template := range dispatchTemplates {
		calls.print(template, operatorForms)
	}
	for _, template := range calls.declared() {
		calls.print(template, functionForms)
	}
}

func newDispatcher() *dispatcher {
	base, err := environment.MustBaseEnvSet(version.MajorMinor(1, 36)).Env(environment.NewExpressions)
	fixture.Must(err)
	env, err := base.Extend(append(tableVariables, library.JSONPatch())...)
	fixture.Must(err)
	d := &dispatcher{values: map[string]ref.Val{}, lists: map[string]bool{}}
	options := []cel.EnvOption{library.JSONPatch()}
	for _, argument := range []string{"x", "y", "z"} {
		options = append(options, cel.Variable(argument+"_value", cel.DynType), cel.Variable(argument+"_list", cel.DynType))
	}
	for _, named := range dispatchValues {
		name, expression := named[0], named[1]
		ast, issues := env.Compile(expression)
		fixture.Must(issues.Err())
		program, err := env.Program(ast)
		fixture.Must(err)
		value, _, err := program.Eval(tableValues)
		fixture.Must(err)
		d.names = append(d.names, name)
		d.lists[name] = strings.HasPrefix(expression, "[")
		d.values[name] = value
		declared := ast.OutputType()
		if name == "empty" {
			declared = cel.ListType(cel.IntType)
		}
		options = append(options, cel.Variable(name+"_typed", declared))
	}
	d.env, err = base.Extend(options...)
	fixture.Must(err)
	return d
}

var identifier = regexp.MustCompile(`^[a-z][A-Za-z0-9]*(\.@?[A-Za-z]+)?$`)

// declared returns a call for each form of each function that expressions can name.
func (d *dispatcher) declared() []string {
	seen := map[string]bool{}
	for name, function := range d.env.Functions() {
		if !identifier.MatchString(name) || strings.Contains(name, "@") {
			continue
		}
		for _, overload := range function.OverloadDecls() {
			count := len(overload.ArgTypes())
			if count < 1 || count > 3 {
				continue
			}
			arguments := []string{"x", "y", "z"}[:count]
			if overload.IsMemberFunction() {
				seen[fmt.Sprintf("x.%s(%s)", name, strings.Join(arguments[1:], ", "))] = true
			} else {
				seen[fmt.Sprintf("%s(%s)", name, strings.Join(arguments, ", "))] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

var argument = regexp.MustCompile(`\b[xyz]\b`)

type dispatchRow struct {
	Call   string              `json:"call"`
	Forms  string              `json:"forms"`
	Rest   string              `json:"rest"`
	Others map[string][]string `json:"others,omitempty"`
}

func (d *dispatcher) print(template string, formsByArity map[int][]string) {
	arity := 0
	for _, name := range argument.FindAllString(template, -1) {
		arity = max(arity, strings.Index("xyz", name)+1)
	}
	names := d.names
	if arity == 3 {
		names = dispatchThird
	}
	for _, form := range formsByArity[arity] {
		outcomes := map[string][]string{}
		programs := map[string]cel.Program{}
		for _, values := range combinations(names, arity) {
			if outcome, possible := d.outcome(programs, template, form, values); possible {
				outcomes[outcome] = append(outcomes[outcome], strings.Join(values, " "))
			}
		}
		if len(outcomes) == 0 {
			continue
		}
		row := dispatchRow{Call: template, Forms: form, Others: outcomes}
		for _, outcome := range slices.Sorted(maps.Keys(outcomes)) {
			if row.Rest == "" || len(outcomes[outcome]) > len(outcomes[row.Rest]) {
				row.Rest = outcome
			}
		}
		delete(outcomes, row.Rest)
		fixture.Write(row)
	}
}

func combinations(names []string, arity int) [][]string {
	if arity == 0 {
		return [][]string{{}}
	}
	all := [][]string{}
	for _, first := range names {
		for _, others := range combinations(names, arity-1) {
			all = append(all, append([]string{first}, others...))
		}
	}
	return all
}

// outcome evaluates a call. Impossible are calls that do not compile, and forms that the value does not have.
func (d *dispatcher) outcome(programs map[string]cel.Program, template, form string, values []string) (outcome string, possible bool) {
	activation := map[string]any{}
	for i, name := range values {
		if form[i] == 'l' && !d.lists[name] {
			return "", false
		}
		activation["xyz"[i:i+1]+"_value"] = d.values[name]
		activation["xyz"[i:i+1]+"_list"] = []ref.Val{d.values[name]}
		activation[name+"_typed"] = d.values[name]
	}
	expression := argument.ReplaceAllStringFunc(template, func(name string) string {
		i := strings.Index("xyz", name)
		return strings.NewReplacer("ARGUMENT", name, "TYPE", values[i]).Replace(argumentForms[form[i]])
	})
	program, compiled := programs[expression]
	if !compiled {
		program = d.compile(expression)
		programs[expression] = program
	}
	if program == nil {
		return "", false
	}
	value, details, err := program.Eval(activation)
	if err != nil {
		return d.shortened(err.Error(), values) + fmt.Sprintf(" @%d", *details.ActualCost()), true
	}
	return fmt.Sprintf("%s @%d", canonical(value), *details.ActualCost()), true
}

// compile returns nil for an expression that does not compile.
func (d *dispatcher) compile(expression string) cel.Program {
	ast, issues := d.env.Compile(expression)
	if issues.Err() != nil {
		return nil
	}
	program, err := d.env.Program(ast,
		cel.EvalOptions(cel.OptOptimize, cel.OptTrackCost),
		cel.CostTracking(&library.CostEstimator{}),
		cel.CostLimit(10000000),
	)
	fixture.Must(err)
	return program
}

// shortened replaces the types of the values, so that more outcomes are equal, and panics, which have addresses.
func (d *dispatcher) shortened(message string, values []string) string {
	if strings.HasPrefix(message, "internal error") {
		return "panic"
	}
	types := []string{}
	for _, name := range values {
		types = append(types, d.values[name].Type().TypeName())
	}
	return "error: " + strings.ReplaceAll(message, "("+strings.Join(types, ", ")+")", "(types)")
}
