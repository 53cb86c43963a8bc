package main

import (
	"fmt"
	"log"
	"os"
	"sort"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Those in which something changed, and the ones before and after.
var versions = []uint{0, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36}

// One line for each overload and macro, after the versions that have it: `1.27-1.36 path authorizer_path x.f(Authorizer, string) PathCheck`.
func printDeclarations() {
	first, last := map[string]uint{}, map[string]uint{}
	for _, minor := range versions {
		env, err := environment.MustBaseEnvSet(version.MajorMinor(1, minor)).Env(environment.NewExpressions)
		if err != nil {
			log.Fatal(err)
		}
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

// Parameters are called A, B and so on, in the order in which they come.
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
