// Records what upstream's checks say about pods at each level and version: the pods of upstream's test data and pods from a fixed seed. Further
// rows are the list of checks, and the policies of namespaces with random labels. With the argument `configurations`, it reads configuration files
// from standard input and replaces the result of each.
package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"log"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"

	"coxswain/tools/golden/internal/fixture"
)

const (
	seed        = 36
	randomPods  = 1500
	labelSets   = 400
	newestMinor = 36
)

type podRow struct {
	Name    string      `json:"name"`
	Pod     *corev1.Pod `json:"pod"`
	Results []result    `json:"results"`
}

// A result of consecutive versions.
type result struct {
	Level  api.Level   `json:"level"`
	First  string      `json:"first"`
	Last   string      `json:"last"`
	Failed [][2]string `json:"failed"`
}

type checkRow struct {
	ID       policy.CheckID `json:"id"`
	Level    api.Level      `json:"level"`
	Versions []versionRow   `json:"versions"`
}

type versionRow struct {
	Since     int              `json:"since"`
	Overrides []policy.CheckID `json:"overrides,omitempty"`
}

type labelRow struct {
	Labels   map[string]string `json:"labels"`
	Defaults map[string]string `json:"defaults"`
	Policy   map[string]string `json:"policy"`
	Error    string            `json:"error,omitempty"`
}

func versions() []api.Version {
	var all []api.Version
	for minor := 0; minor <= newestMinor; minor++ {
		all = append(all, api.MajorMinorVersion(1, minor))
	}
	return append(all, api.MajorMinorVersion(1, 99), api.LatestVersion())
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "configurations" {
		recordConfigurations()
		return
	}
	recordChecks()
}

func recordChecks() {
	var checks []checkRow
	for _, check := range policy.DefaultChecks() {
		row := checkRow{ID: check.ID, Level: check.Level}
		for _, version := range check.Versions {
			row.Versions = append(row.Versions, versionRow{version.MinimumVersion.Minor(), version.OverrideCheckIDs})
		}
		checks = append(checks, row)
	}
	fixture.Write(map[string]any{"checks": checks})
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	fixture.Must(err)
	for _, row := range append(publishedPods(), generatedPods()...) {
		row.Results = evaluate(evaluator, row.Pod)
		fixture.Write(row)
	}
	random := rand.New(rand.NewSource(seed))
	for range labelSets {
		fixture.Write(policyOf(random))
	}
}

func evaluate(evaluator policy.Evaluator, pod *corev1.Pod) []result {
	var results []result
	for _, level := range []api.Level{api.LevelPrivileged, api.LevelBaseline, api.LevelRestricted} {
		for index, version := range versions() {
			failed := [][2]string{}
			for _, one := range evaluator.EvaluatePod(api.LevelVersion{Level: level, Version: version}, &pod.ObjectMeta, &pod.Spec) {
				if !one.Allowed {
					failed = append(failed, [2]string{one.ForbiddenReason, one.ForbiddenDetail})
				}
			}
			if index > 0 && reflect.DeepEqual(results[len(results)-1].Failed, failed) {
				results[len(results)-1].Last = version.String()
			} else {
				results = append(results, result{level, version.String(), version.String(), failed})
			}
		}
	}
	return results
}

// publishedPods returns the distinct pods of upstream's test data, without their names.
func publishedPods() []podRow {
	source, _ := runtime.FuncForPC(reflect.ValueOf(policy.DefaultChecks).Pointer()).FileLine(0)
	root := filepath.Join(filepath.Dir(source), "..", "test", "testdata")
	seen := map[string]bool{}
	var rows []podRow
	fixture.Must(filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		pod := &corev1.Pod{}
		if err := yaml.UnmarshalStrict(content, pod); err != nil {
			return err
		}
		pod.Name = ""
		key, err := json.Marshal(pod)
		if err != nil || seen[string(key)] {
			return err
		}
		seen[string(key)] = true
		name, err := filepath.Rel(root, path)
		rows = append(rows, podRow{Name: strings.TrimSuffix(name, ".yaml"), Pod: pod})
		return err
	}))
	if len(rows) == 0 {
		log.Fatalf("%s has no pods", root)
	}
	return rows
}

var labelValues = []string{"", "privileged", "baseline", "restricted", "Restricted", "latest", "v1.0", "v1.24", "v1.36", "v1.99", "v1.01", "v2.0", "1.30",
	"v1.9223372036854775807", "v1.9223372036854775808", "v1.99999999999999999999"}
var levelValues = labelValues[1:4]
var versionValues = labelValues[5:10]

func policyOf(random *rand.Rand) labelRow {
	pick := func(values []string) string { return values[random.Intn(len(values))] }
	row := labelRow{Labels: map[string]string{}, Defaults: map[string]string{}, Policy: map[string]string{}}
	for _, mode := range []string{"enforce", "audit", "warn"} {
		row.Defaults[mode] = pick(levelValues) + ":" + pick(versionValues)
		for index, values := range [][]string{levelValues, versionValues} {
			label := "pod-security.kubernetes.io/" + mode + []string{"", "-version"}[index]
			switch random.Intn(6) {
			case 0:
				row.Labels[label] = pick(labelValues)
			case 1, 2:
				row.Labels[label] = pick(values)
			}
		}
	}
	parse := func(text string) api.LevelVersion {
		level, version, _ := strings.Cut(text, ":")
		parsed, err := api.ParseVersion(version)
		fixture.Must(err)
		return api.LevelVersion{Level: api.Level(level), Version: parsed}
	}
	result, errs := api.PolicyToEvaluate(row.Labels, api.Policy{
		Enforce: parse(row.Defaults["enforce"]), Audit: parse(row.Defaults["audit"]), Warn: parse(row.Defaults["warn"]),
	})
	row.Policy["enforce"], row.Policy["audit"], row.Policy["warn"] = result.Enforce.String(), result.Audit.String(), result.Warn.String()
	if err := errs.ToAggregate(); err != nil {
		row.Error = fmt.Sprint(err)
	}
	return row
}
