// Records what upstream's parser of shard selectors answers, which of the `values` each selector matches, and the hashes of values.
// `table` records written selectors, `random` selectors with random errors and long ones, `hashes` the hashes.
package main

import (
	"fmt"
	"math/rand"
	"os"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apisharding "k8s.io/apimachinery/pkg/sharding"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/sharding"

	"coxswain/tools/golden/internal/fixture"
)

type row struct {
	Selector string `json:"selector"`
	// The error; empty for a valid selector.
	Error string `json:"error,omitempty"`
	// The selector as shardInfo contains it.
	Shown string `json:"shown,omitempty"`
	// For each of the values, whether the selector matches an object with it as uid and as namespace.
	Matches string `json:"matches,omitempty"`
}

type hashRow struct {
	Value string `json:"value"`
	Hash  string `json:"hash"`
}

// values are the uids and namespaces of objects, and the values of the fixture of hashes.
var values = []string{
	"", "a", "default", "kube-system", "0b9f1d1e-7f0b-4f0e-9c39-2f1a3c0f6a01", "6c84fb90-12c4-11e1-840d-7b25c5ee775a",
	"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", "é", "日本語", "🐢", "\x00", "a\"b", "foobar", strings.Repeat("x", 1000), "A",
}

func main() {
	switch os.Args[1] {
	case "table":
		for _, selector := range table() {
			fixture.Write(answer(selector))
		}
	case "random":
		for _, selector := range append(long(), random()...) {
			fixture.Write(answer(selector))
		}
	case "hashes":
		for _, value := range hashed() {
			fixture.Write(hashRow{value, apisharding.HashField(value)})
		}
	}
}

func answer(text string) row {
	selector, err := sharding.Parse(text)
	if err != nil {
		return row{Selector: text, Error: err.Error()}
	}
	matches := make([]byte, len(values))
	for index, value := range values {
		object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: types.UID(value), Namespace: value}}
		matched, err := selector.Matches(object)
		fixture.Must(err)
		matches[index] = '0'
		if matched {
			matches[index] = '1'
		}
	}
	return row{Selector: text, Shown: selector.String(), Matches: string(matches)}
}

const (
	uid       = "object.metadata.uid"
	namespace = "object.metadata.namespace"
	first     = "'0x0000000000000000'"
	middle    = "'0x8000000000000000'"
	end       = "'0x10000000000000000'"
)

func shard(field, from, to string) string {
	return "shardRange(" + field + ", " + from + ", " + to + ")"
}

func table() []string {
	low, high := shard(uid, first, middle), shard(uid, middle, end)
	selectors := []string{
		low, high, shard(uid, first, end), low + " || " + high, high + " || " + low, low + "||" + low, "(" + low + ")", "((" + low + ") || (" + high + "))",
		low + " || " + high + " || " + low + " || " + high, "  " + low + "\n", "\u00a0" + low + "\u0085", "\ufeff" + low, low + " // comment", "shardRange(" + uid + ",\n" + first + ",\t" + middle + ")",
		shard(namespace, first, middle), shard(namespace, first, middle) + " || " + shard(namespace, middle, end), low + " || " + shard(namespace, middle, end), shard(namespace, first, middle) + " || " + low,
		"", " ", "\t\n", "\u3000", "shardRange", "shardRange()", "shardRange(" + uid + ")", "shardRange(" + uid + ", " + first + ")", "shardRange(" + uid + ", " + first + ", " + middle + ", " + end + ")",
		"shardRange(" + uid + ", " + first + ", " + middle + ",)", "shardrange(" + uid + ", " + first + ", " + middle + ")", "ShardRange(" + uid + ", " + first + ", " + middle + ")",
		"x.shardRange(" + uid + ", " + first + ", " + middle + ")", "x.y().shardRange(" + uid + ", " + first + ", " + middle + ")", ".shardRange(" + uid + ", " + first + ", " + middle + ")",
		"'x'.shardRange(" + uid + ", " + first + ", " + middle + ")", "shardRange(" + uid + ", " + first + ", " + middle + ").x", "shardRange(" + uid + ", " + first + ", " + middle + ")[0]",
		low + " && " + high, "!" + low, "!!" + low, "-" + low, low + " == " + high, low + " ? " + low + " : " + high, low + " || true", "true || " + low, low + " || x", low + " || " + low + " && " + high,
		low + " | " + high, low + " or " + high, low + " " + high, low + ", " + high, low + " ||", "|| " + low, low + " || || " + high, "(" + low, low + ")", low + ";",
		"true", "1", "'text'", "x", "x.y", "[]", "[" + low + "]", "{}", "{'a': " + low + "}", "T{}", "a.b.T{x: 1}", "null", "1.5", "1u", "b'x'", "has(" + uid + ")", "x.all(y, y)", "x.map(y, y)", "dyn(" + low + ")",
		"size('x')", "1 + 2", "1 < 2", "a in b", "a[1]", "x ? y : z", "-1", "- 1", "in", "for", "a.for", "`a`", "a.`b`", "object.?metadata", "x[?0]", "#", "'", "\"", "'a", "'''", "\\", "é", "a é", "x\x00",
	}
	for _, field := range []string{
		"uid", "metadata.uid", "object.uid", "object.metadata", "object.metadata.uid.x", "object.metadata.name", "object.metadata.labels", "object.metadata.UID", "Object.metadata.uid", ".object.metadata.uid",
		"object . metadata . uid", "object\n.metadata.uid", "(object.metadata).uid", "(object.metadata.uid)", "object['metadata'].uid", "object.metadata['uid']", "object.metadata.uid()", "object.metadata.uid + ''",
		"object().metadata.uid", "'object.metadata.uid'", "1", "[]", "{}", "T{}", "T{}.x", "!object", "has(object.metadata.uid)", "'x'.metadata.uid", "object.metadata.`uid`", "object.?metadata.uid", "true", "null", "for",
		"object.metadata.\"uid\"", "object.metadata.", "object..uid", "", "object.métadata.uid",
	} {
		selectors = append(selectors, shard(field, first, middle))
	}
	for _, bound := range []string{
		"'0x0'", "'0x8'", "'0xff'", "'0x'", "''", "'0'", "'8000000000000000'", "'0X8000000000000000'", "'0x800000000000000'", "'0x80000000000000000'", "'0x800000000000000000'", "'0x10000000000000000'",
		"'0x10000000000000001'", "'0x00000000000000001'", "'0x20000000000000000'", "'0x1000000000000000G'", "'0x800000000000000g'", "'0x800000000000000G'", "'0xABCDEF0123456789'", "'0xabcdef0123456789'", "'0xffffffffffffffff'",
		"'0x-000000000000001'", "'0x 000000000000001'", "'0x800000000000000é'", "'0xé'", "'0x日本語日本語'", "'0x🐢'", "' 0x8000000000000000'", "'0x8000000000000000 '", "'0x8000000000000000\\n'", "'0x800000000000000\\n'",
		"\"0x8000000000000000\"", "'''0x8000000000000000'''", "r'0x8000000000000000'", "'\\x30x8000000000000000'", "'\\u0030x8000000000000000'", "'0x' + '8000000000000000'", "('0x8000000000000000')",
		"b'0x8000000000000000'", "1", "-1", "0x8000000000000000", "0x8", "9223372036854775808", "18446744073709551615u", "99999999999999999999u", "1.5", "1e999", "true", "false", "null", "[]", "['0x8']", "{}", "T{}", "x", "x.y", "f()", "!true",
		"'0x8' '0x9'", "'\\ud800'", "'\\q'", "'a", "'0x0000000000000000'", "'0x8000000000000000'", "'0x7fffffffffffffff'", "'0x8000000000000001'", "",
	} {
		selectors = append(selectors, shard(uid, first, bound), shard(uid, bound, end), shard(uid, bound, bound), shard(uid, bound, middle), shard(uid, middle, bound))
	}
	return selectors
}

// long returns selectors at the limits of the parser.
func long() []string {
	low := shard(uid, first, middle)
	var selectors []string
	for _, count := range []int{100, 1000, 1199, 1300} {
		selectors = append(selectors, low+strings.Repeat(" || "+low, count))
	}
	for _, count := range []int{10, 100, 240, 249, 250, 251, 1000} {
		selectors = append(selectors, strings.Repeat("(", count)+low+strings.Repeat(")", count), strings.Repeat("(", count)+low,
			strings.Repeat("[", count)+low+strings.Repeat("]", count), shard("a"+strings.Repeat(".b", count), first, middle), strings.Repeat("(", count)+low+strings.Repeat(" || "+low+")", count),
			strings.Repeat("f(", count)+low+strings.Repeat(")", count), strings.Repeat("!", count)+low)
	}
	for _, count := range []int{99_900, 100_001} {
		selectors = append(selectors, low+" //"+strings.Repeat("x", count), low+" //"+strings.Repeat("🐢", count), strings.Repeat(" ", count)+low, shard(uid, first, "'0x"+strings.Repeat("0", count)+"'"))
	}
	for _, count := range []int{29, 30, 31, 40} {
		selectors = append(selectors, strings.Repeat("(?) || ", count)+low, strings.Repeat("a b || ", count)+low)
	}
	return selectors
}

var tokens = []string{
	"shardRange", "(", ")", ",", "||", "&&", "object", ".", "metadata", "uid", "namespace", first, middle, end, "'0x8'", "1", "1.5", "true", "null", "in", "for", "[", "]", "{", "}", "?", ":", "!", "-", "+", "==", "<", "'", "\"", "|", "&", "=", "#", "x", " ", "é", "\\", "`", "\n", "//",
}

// random returns selectors of which some tokens are removed, repeated, replaced or swapped.
func random() []string {
	source := rand.New(rand.NewSource(1))
	pick := func() string { return tokens[source.Intn(len(tokens))] }
	one := func(field string) []string {
		from, to := source.Uint64(), source.Uint64()
		if from > to && source.Intn(10) > 0 {
			from, to = to, from
		}
		return []string{"shardRange", "(", "object", ".", "metadata", ".", field, ", ", fmt.Sprintf("'0x%016x'", from), ", ", fmt.Sprintf("'0x%016x'", to), ")"}
	}
	var selectors []string
	for range 1500 {
		field := []string{"uid", "namespace"}[source.Intn(2)]
		parts := one(field)
		for range source.Intn(3) {
			parts = append(append(parts, " || "), one(field)...)
		}
		for range source.Intn(4) {
			at := source.Intn(len(parts))
			switch source.Intn(4) {
			case 0:
				parts = append(parts[:at:at], parts[at+1:]...)
			case 1:
				parts = append(parts[:at:at], append([]string{pick()}, parts[at:]...)...)
			case 2:
				parts[at] = pick()
			case 3:
				other := source.Intn(len(parts))
				parts[at], parts[other] = parts[other], parts[at]
			}
			if len(parts) == 0 {
				break
			}
		}
		selectors = append(selectors, strings.Join(parts, ""))
	}
	return selectors
}

func hashed() []string {
	source := rand.New(rand.NewSource(2))
	all := values
	for range 200 {
		var bytes [16]byte
		source.Read(bytes[:])
		all = append(all, fmt.Sprintf("%x-%x-%x-%x-%x", bytes[0:4], bytes[4:6], bytes[6:8], bytes[8:10], bytes[10:16]))
	}
	return all
}
