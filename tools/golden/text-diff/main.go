// Records upstream's diffs of random texts and values: rows with what was before, what is after, and the diff.
package main

import (
	"fmt"
	"math/rand"

	"github.com/pmezard/go-difflib/difflib"
	"k8s.io/apimachinery/pkg/util/diff"

	"coxswain/tools/golden/internal/fixture"
)

var chance = rand.New(rand.NewSource(7))

type row struct {
	Kind          string `json:"kind"`
	Before, After any
	Diff          string
}

// lines returns random lines of few different words, so that lines repeat.
func lines(count, words int) []string {
	out := make([]string, count)
	for i := range out {
		out[i] = fmt.Sprintf("%d", chance.Intn(words))
	}
	return out
}

func edit(in []string, words int) []string {
	out := append([]string{}, in...)
	for n := chance.Intn(6); n > 0; n-- {
		at := 0
		if len(out) > 0 {
			at = chance.Intn(len(out))
		}
		switch chance.Intn(3) {
		case 0:
			out = append(out[:at:at], append(lines(chance.Intn(4), words), out[at:]...)...)
		case 1:
			if at < len(out) {
				out = append(out[:at:at], out[at+1:]...)
			}
		default:
			if at < len(out) {
				out[at] = "x"
			}
		}
	}
	return out
}

func ended(in []string) []string {
	out := make([]string, len(in))
	for i := range in {
		out[i] = in[i] + "\n"
	}
	return out
}

func value(depth int) any {
	switch n := chance.Intn(8); {
	case n < 3 && depth < 4:
		m := map[string]any{}
		for i := chance.Intn(5); i > 0; i-- {
			m[string(rune('a'+chance.Intn(6)))] = value(depth + 1)
		}
		return m
	case n < 5 && depth < 4:
		l := []any{}
		for i := chance.Intn(4); i > 0; i-- {
			l = append(l, value(depth+1))
		}
		return l
	case n == 5:
		return nil
	case n == 6:
		return chance.Intn(3) == 0
	}
	return []any{"", "<a>", "b & c", 7, 1.5}[chance.Intn(5)]
}

func main() {
	for i := 0; i < 150; i++ {
		count, words := chance.Intn(30), 2+chance.Intn(12)
		if i%30 == 0 {
			count, words = 220, 40
		}
		before := lines(count, words)
		after := edit(before, words)
		text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: ended(before), B: ended(after), Context: 3})
		fixture.Must(err)
		fixture.Write(row{"lines", before, after, text})
	}
	for i := 0; i < 100; i++ {
		before, after := value(0), value(0)
		fixture.Write(row{"json", before, after, diff.Diff(before, after)})
	}
}
