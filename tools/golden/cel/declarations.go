package main

import (
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"

	"coxswain/tools/golden/internal/fixture"
)

// Minor versions in which declarations changed, and the versions before and after.
var versions = []uint{0, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36}

// printDeclarations prints a line for each overload and macro, with the versions that have it:
// `path authorizer_path x.f(Authorizer, string) PathCheck 1.27-1.36`.
func printDeclarations() {
	first, last := map[string]uint{}, map[string]uint{}
	for _, minor := range versions {
		env, err := environment.MustBaseEnvSet(version.MajorMinor(1, minor)).Env(environment.NewExpressions)
		fixture.Must(err)
		for _, line := range declared(env) {
			if _, seen := first[line]; !seen {
				first[line] = minor
			}
			last[line] = minor
		}
	}
	lines := []string{}
	for line, since := range first {
		lines = append(lines, fmt.Sprintf("%s 1.%d-1.%d\n", line, since, last[line]))
	}
	sort.Strings(lines)
	fmt.Fprint(os.Stdout, strings.Join(lines, ""))
}

func declared(env *cel.Env) []string {
	lines := []string{}
	for name, function := range env.Functions() {
		for _, overload := range function.OverloadDecls() {
			names := map[string]string{}
			arguments := []string{}
			for _, argument := range overload.ArgTypes() {
				arguments = append(arguments, typeText(argument, names))
			}
			form := "f"
			if overload.IsMemberFunction() {
				form = "x.f"
			}
			lines = append(lines, fmt.Sprintf("%s %s %s(%s) %s", name, overload.ID(), form, strings.Join(arguments, ", "), typeText(overload.ResultType(), names)))
		}
	}
	for _, macro := range env.Macros() {
		lines = append(lines, "macro "+macro.MacroKey())
	}
	return lines
}

// typeText names type parameters A, B and so on, in order of appearance.
func typeText(t *types.Type, names map[string]string) string {
	if t.Kind() == types.TypeParamKind {
		if _, named := names[t.TypeName()]; !named {
			names[t.TypeName()] = string(rune('A' + len(names)))
		}
		return names[t.TypeName()]
	}
	parameters := []string{}
	for _, parameter := range t.Parameters() {
		parameters = append(parameters, typeText(parameter, names))
	}
	if len(parameters) == 0 {
		return t.TypeName()
	}
	return t.TypeName() + "(" + strings.Join(parameters, ", ") + ")"
}
