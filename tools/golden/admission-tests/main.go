// Records what upstream's own tests of admission and flow control demand: runs them in a copy of k8s.io/apiserver in which the functions under test
// record what they receive and return. The argument selects the functions. A test that fails ends the program with an error.
//
// The files in _recorders replace functions of the copy. Each line is one call; equal calls are one line, and lines are sorted,
// because some of upstream's tables are maps.
package main

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"coxswain/tools/golden/internal/fixture"
)

//go:embed _recorders
var recorders embed.FS

// plugins has the packages of upstream's module that are named here.
const plugins = "pkg/admission/plugin/"

// recording is a set of functions and the packages whose tests call them.
type recording struct {
	// functions by file, without the folder plugins. Another function with the same name calls and records them.
	functions map[string][]string
	packages  []string
	// tests are those that run; all of the packages if it is empty.
	tests string
	// skipped are tests whose calls this server cannot have.
	skipped string
	// one of so many calls is recorded; all if it is zero.
	oneOf int
}

// flowControl has the packages of flow control.
const flowControl = "../../util/flowcontrol"

// flowControlFunctions are those that the recorders of the package replace; each recording runs the tests of some.
var flowControlFunctions = map[string][]string{
	flowControl + "/rule.go": {"func matchesPolicyRule("},
	flowControl + "/watch_tracker.go": {
		"func (w *watchTracker) RegisterWatch(", "func (w *watchTracker) GetInterestedWatchCount(",
	},
	flowControl + "/dropped_requests_tracker.go": {"func (s *droppedRequestsStats) recordDroppedRequest("},
}

var recordings = map[string]recording{
	"rules": {
		functions: map[string][]string{
			"webhook/predicates/rules/rules.go": {
				"func (r *Matcher) group(", "func (r *Matcher) version(", "func (r *Matcher) operation(",
				"func (r *Matcher) resource(", "func (r *Matcher) scope(", "func IsExemptAdmissionConfigurationResource(",
			},
			"webhook/predicates/namespace/matcher.go": {"func (m *Matcher) GetNamespaceLabels("},
			"webhook/predicates/object/matcher.go":    {"func (m *Matcher) MatchObjectSelector("},
		},
		packages: []string{"webhook/predicates/rules", "webhook/predicates/namespace", "webhook/predicates/object"},
	},
	"matches": {
		functions: map[string][]string{
			"webhook/generic/webhook.go":  {"func (a *Webhook) ShouldCallHook("},
			"policy/matching/matching.go": {"func (m *Matcher) Matches("},
		},
		packages: []string{"webhook/generic", "policy/matching"},
	},
	"responses": {
		functions: map[string][]string{
			"webhook/request/admissionreview.go": {"func VerifyAdmissionResponse("},
			"webhook/errors/statuserror.go":      {"func ToStatusErr("},
		},
		packages: []string{"webhook/request", "webhook/errors"},
	},
	"webhooks": {
		functions: map[string][]string{
			"webhook/testing/testcase.go":       {"func NewFakeValidatingDataSource(", "func NewFakeMutatingDataSource("},
			"webhook/testing/webhook_server.go": {"func NewTestServerWithHandler("},
			"webhook/mutating/plugin.go":        {"func (a *Plugin) Admit("},
			"webhook/validating/plugin.go":      {"func (a *Plugin) Validate("},
		},
		packages: []string{"webhook/mutating", "webhook/validating"},
		skipped:  "PanicHandling",
	},
	"expressions": {
		functions: map[string][]string{
			"cel/compile.go":                {"func (c compiler) CompileCELExpression("},
			"cel/condition.go":              {"func (c *condition) ForInput("},
			"cel/composition.go":            {"func (c *CompositedCompiler) CompileAndStoreVariable("},
			"../../cel/environment/base.go": {"func MustBaseEnvSet("},
		},
		packages: []string{"cel"},
	},
	"mutations": {
		functions: map[string][]string{
			"cel/compile.go":                      {"func (c compiler) CompileCELExpression("},
			"cel/condition.go":                    {"func (c *condition) ForInput("},
			"cel/composition.go":                  {"func (c *CompositedCompiler) CompileAndStoreVariable("},
			"../../cel/environment/base.go":       {"func MustBaseEnvSet("},
			"policy/mutating/patch/smd.go":        {"func (e *applyConfigPatcher) Patch("},
			"policy/mutating/patch/json_patch.go": {"func (e *jsonPatcher) Patch("},
		},
		packages: []string{"policy/mutating/patch", "policy/mutating"},
	},
	"matching": {
		functions: flowControlFunctions,
		packages:  []string{flowControl},
		tests:     "TestMatching|TestPolicyRules|TestLiterals",
		oneOf:     20,
	},
	"width": {
		functions: map[string][]string{
			flowControl + "/request/list_work_estimator.go":     {"func (e *listWorkEstimator) estimate("},
			flowControl + "/request/mutating_work_estimator.go": {"func (e *mutatingWorkEstimator) estimate("},
		},
		packages: []string{flowControl + "/request"},
	},
	"watches": {
		functions: flowControlFunctions,
		packages:  []string{flowControl},
		tests:     "TestGetInterestedWatchCount",
	},
	"dropped": {
		functions: flowControlFunctions,
		packages:  []string{flowControl},
		tests:     "TestDroppedRequestsTracker",
	},
	"warnings": {
		functions: map[string][]string{"policy/validating/typechecking.go": {"func (c *TypeChecker) Check("}},
		packages:  []string{"policy/validating"},
	},
}

func main() {
	chosen, ok := recordings[os.Args[1]]
	if !ok {
		panic("unknown recording " + os.Args[1])
	}
	copied, err := os.MkdirTemp("", "coxswain-apiserver-")
	fixture.Must(err)
	defer os.RemoveAll(copied)
	fixture.Must(os.CopyFS(copied, os.DirFS(upstream())))
	for file, functions := range chosen.functions {
		instrument(copied, filepath.Join(plugins, file), functions)
	}
	output(runTests(copied, chosen))
}

// upstream returns the directory of the module's source.
func upstream() string {
	path, err := exec.Command("go", "list", "-C", "tools/golden", "-m", "-f", "{{.Dir}}", "k8s.io/apiserver").Output()
	fixture.Must(err)
	return strings.TrimSpace(string(path))
}

// instrument renames functions of a file, and adds the recorders of its package.
func instrument(copied, file string, functions []string) {
	path := filepath.Join(copied, file)
	source, err := os.ReadFile(path)
	fixture.Must(err)
	for _, function := range functions {
		if bytes.Count(source, []byte("\n"+function)) != 1 {
			panic(fmt.Sprintf("%s does not have %s) once", file, function))
		}
		renamed := strings.TrimSuffix(function, "(") + "Unrecorded("
		source = bytes.Replace(source, []byte("\n"+function), []byte("\n"+renamed), 1)
	}
	fixture.Must(os.Chmod(path, 0o644))
	fixture.Must(os.WriteFile(path, source, 0o644))
	addFolder(copied, filepath.Dir(file))
	addFolder(copied, "pkg/admission/recording")
	addFolder(copied, "pkg/admission/recording/requests")
}

func addFolder(copied, folder string) {
	from := filepath.Join("_recorders", folder)
	entries, err := recorders.ReadDir(from)
	fixture.Must(err)
	fixture.Must(os.MkdirAll(filepath.Join(copied, folder), 0o755))
	for _, entry := range entries {
		if entry.IsDir() {
			continue
		}
		content, err := fs.ReadFile(recorders, filepath.Join(from, entry.Name()))
		fixture.Must(err)
		fixture.Must(os.WriteFile(filepath.Join(copied, folder, entry.Name()), content, 0o644))
	}
}

// runTests returns the recorded lines.
func runTests(copied string, chosen recording) []string {
	record := filepath.Join(copied, "recorded.jsonl")
	args := []string{"test", "-count=1", "-p=1"}
	if chosen.tests != "" {
		args = append(args, "-run="+chosen.tests)
	}
	if chosen.skipped != "" {
		args = append(args, "-skip="+chosen.skipped)
	}
	for _, name := range chosen.packages {
		args = append(args, "./"+plugins+name)
	}
	test := exec.Command("go", args...)
	test.Dir = copied
	test.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false", "GOWORK=off", "RECORDING="+record)
	test.Stdout, test.Stderr = os.Stderr, os.Stderr
	fixture.Must(test.Run())
	content, err := os.ReadFile(record)
	fixture.Must(err)
	lines := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
	slices.Sort(lines)
	return someOf(slices.Compact(lines), chosen.oneOf)
}

func someOf(lines []string, oneOf int) []string {
	if oneOf == 0 {
		return lines
	}
	var some []string
	for index := 0; index < len(lines); index += oneOf {
		some = append(some, lines[index])
	}
	return some
}

func output(lines []string) {
	for _, line := range lines {
		fmt.Println(line)
	}
}
