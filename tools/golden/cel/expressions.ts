// Prints expressions with every function of Kubernetes' libraries, one per line, for the fixture of functions.

const texts = (...values: string[]): string[] => values.map((value) => JSON.stringify(value));

const addresses = texts(
  ..."1.2.3.4 0.0.0.0 127.0.0.1 127.255.0.1 169.254.0.1 224.0.0.1 224.0.1.1 239.1.1.1 255.255.255.255 10.0.0.1 01.2.3.4 1.2.3.04 256.1.1.1 1.2.3".split(
    " ",
  ),
  ..."1.2.3.4.5 1..2.3 .1.2.3 1.2.3. 1.2.3.a :: ::1 ::2 fe80::1 fe80::1%eth0 febf::1 fec0::1 ff02::1 ff12::1 ff01::1 2001:DB8::1 2001:db8::1".split(
    " ",
  ),
  ..."2001:db8:0:0:1:0:0:1 1:0:0:2:0:0:0:3 1:2:3:4:5:6:7:8 1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 1::2::3 ::ffff:1.2.3.4 ::1.2.3.4 1:2:3:4:5:6:1.2.3.4".split(
    " ",
  ),
  ..."1:2:3:4:5:6:7:1.2.3.4 1.2.3.4:: 12345::1 g::1 1: :1 1:2:3:4:5:6:7:: 1:2:3:4:5:6:7:8:: ::% ::1%é %1 é 1:2:3:4:5::6:7:8 64:ff9b::1.2.3.400 0:0:0:0:0:0:0:0".split(
    " ",
  ),
  "",
  " ::1",
);
const networks = texts(
  ..."10.0.0.0/8 10.1.2.3/8 10.0.0.0/0 10.0.0.0/32 10.0.0.0/33 10.0.0.0/08 10.0.0.0/ 10.0.0.0 10.0.0.0/-1 10.0.0.0/+1 10.0.0.0/a 10.0.0.0/99999999999999999999".split(
    " ",
  ),
  ..."::/0 ::1/128 2001:db8::/32 2001:db8:1::1/48 fe80::1%eth0/64 ::ffff:1.2.3.4/120 ::/129 1.2.3/8 /8 10.0.0.0/8/9 10.0.0.0/1é 192.168.0.0/23 192.168.1.0/24".split(
    " ",
  ),
);
const versions = texts(
  ..."1.2.3 0.0.0 1.2 1 v1.2.3 v1 01.2.3 1.02.3 1.2.03 1.2.3-alpha 1.2.3-alpha.1 1.2.3-alpha.01 1.2.3-alpha.beta 1.2.3-1 1.2.3-rc.1+build.5 1.2.3+build".split(
    " ",
  ),
  ..."1.2.3+ 1.2.3- 1.2.3-+ 1.2.3-a..b 1.2.3+a..b 1.2.3-é 1.2.3+é 1.2.x 1.x.3 x.2.3 1.2.3.4 1..3 .. 18446744073709551615.0.0 18446744073709551616.0.0".split(
    " ",
  ),
  ..."9223372036854775808.1.1 1.2.3-18446744073709551616 1.2+meta 1.2-rc v01.002.0003 v00.0.0 1.2.é 1.é.3 0é.1.1 V1.2.3 2.0.0 1.10.0 1.9.0 1.2.3--1".split(
    " ",
  ),
  "",
  " 1.2.3",
);
const urls = texts(
  ..."https://example.com:80/path?query=val#fragment https://user:pass@example.com/path http://a /absolute/path ./relative relative * https://[::1]:80/a".split(
    " ",
  ),
  ..."https://[::1/a https://[::1]a/ https://[1.2.3.4]/ https://[fe80::1%25en0]/ https://[fe80::1%en0]/ https://[g]/ https://a:b/ https://a:1:2/ ftp://a:1:2/".split(
    " ",
  ),
  ..."https://a:/ https://a%20b/ https://a%C3%A9b/ https://a%41b/ https://ab%zz/ https://é.com/é?é=é#é mailto:a@b.c mailto:a@b.c?subject=x //host/path ///path".split(
    " ",
  ),
  ..."https:///path https:/path https: : :a 1http://a a+b.c-d://x HTTP://UP.Case/Path http://a/%2f%2F http://a/%zz http://a/%2 http://a/a%20b http://a/[b] http://a/a|b".split(
    " ",
  ),
  ..."http://a? http://a?? http://a?x=1&x=2&y http://a?x=1;y=2 http://a?%zz=1&b=2 http://a?a+b=c+d%2B http://a?=1&&=2 http://us%er@a http://us%20er:p%3Ass@a http://u@v@a http://u[@a".split(
    " ",
  ),
  ..."http://a#f%zz http://a/?q#f?g http://a|b http://a<b>/ http://a^b/ http://a{b}/ http://a\\b http://[::1]x[::1]/ http://x[::1]/ http://a/!$&'()*+,;=:@[]".split(
    " ",
  ),
  "http://a b/",
  "http://a/b c",
  "http://a/\u0000",
  "http://a\u007f",
  "",
);
const quantities = texts(
  ..."1 0 -1 1.5 0.5m 100m 1k 1Ki 1.5Gi 1e3 1E3 1e-3 9223372036854775807 9223372036854775808 1Ei 10Ei 1n 1.0000000001 +1 1. .5 1Mo 1kk 0x1 1e 12Mi 0.2G 200M -0".split(
    " ",
  ),
  "",
  " 1",
);
const names = texts(
  ..."a my-name a.b A a_b -a a- a. .a 1a 1 a/b a/b/c example.com/MyName /a a/ example..com/a é a%20b".split(" "),
  ..."2020-01-01 2020-13-01 2020-02-30 2020-01-01T00:00:00Z 2020-01-01t00:00:00.123z 2020-01-01T24:00:00Z 2020-01-01T00:00:00+01:00 2020-01-01T00:00:00".split(
    " ",
  ),
  ..."123e4567-e89b-12d3-a456-426614174000 123E4567E89B12D3A456426614174000 123e4567 YQ== YQ= YWI= YWJj a=== http://a.b/c /path :bad".split(
    " ",
  ),
  "",
  "a b",
  "x".repeat(63),
  "x".repeat(64),
);
const formats =
  "dns1123Label dns1123Subdomain dns1035Label qualifiedName dns1123LabelPrefix dns1123SubdomainPrefix dns1035LabelPrefix labelValue uri uuid byte date datetime".split(
    " ",
  );
const words = texts(
  "",
  "a",
  "tacocat",
  "TacoCÆt",
  "o©αT😀b",
  " \t\u00a0x\u3000\n",
  "a,b,,c",
  'q"uo\\te\n\u0007',
  "aaa",
);
const lists = [
  "[]",
  "[1]",
  "[3, 1, 2, 1]",
  "['b', 'a', 'é', 'a']",
  "[1.5, -2.0, 0.0]",
  "[2u, 1u]",
  "[true, false]",
  "[duration('2s'), duration('1s')]",
  "[b'b', b'a']",
  "n",
  "l",
  "d",
];
const values = [
  "1",
  "-1",
  "255u",
  "1.5",
  "-1234567.891",
  "1e300",
  "true",
  "'a\"é'",
  "b'xy'",
  "null",
  "duration('1h1.5s')",
  "timestamp('2020-01-01T00:00:00.5Z')",
  "[1, 2]",
  "{'b': [1.5], 'a': null}",
  "int",
  "dyn('x')",
  "dyn(1.5)",
  "double('NaN')",
  "double('-Infinity')",
  "'Infinity'",
  "quantity('1')",
  "optional.of(1)",
];
const resource = "authorizer.group('apps').resource('deployments')";

function* expressions(): Generator<string> {
  for (const a of addresses) {
    yield `ip(${a})`;
    yield `isIP(${a})`;
    yield `ip.isCanonical(${a})`;
  }
  for (const a of addresses.slice(0, 33))
    for (const f of [
      "family",
      "isUnspecified",
      "isLoopback",
      "isLinkLocalMulticast",
      "isLinkLocalUnicast",
      "isGlobalUnicast",
    ])
      yield `ip(${a}).${f}()`;
  for (const c of networks) {
    yield `cidr(${c})`;
    yield `isCIDR(${c})`;
    for (const f of ["ip", "prefixLength", "masked"]) yield `cidr(${c}).${f}()`;
    for (const a of [addresses[0], addresses[9], addresses[26], "'x'"]) {
      yield `cidr(${c}).containsIP(${a})`;
      if (a !== "'x'") yield `cidr(${c}).containsIP(ip(${a}))`;
    }
    for (const other of ["'10.0.0.0/16'", "'10.1.0.0/8'", "'0.0.0.0/0'", "'2001:db8::/64'", "'x'"]) {
      yield `cidr(${c}).containsCIDR(${other})`;
      yield `cidr(${c}).containsCIDR(cidr(${other}))`;
      if (other !== "'0.0.0.0/0'") yield `cidr(${c}) == cidr(${other})`;
    }
  }
  yield* [
    "string(ip('::0'))",
    "string(cidr('::0/1'))",
    "ip(s)",
    "isIP(s)",
    "cidr(s)",
    "isCIDR(s)",
    "ip.isCanonical(s)",
    "cidr('::/1').containsIP(s)",
    "cidr('::/1').containsCIDR(s)",
  ];
  yield* [
    "type(ip('::1')) == net.IP",
    "type(cidr('::/1')) == net.CIDR",
    "ip('::1') == ip('0::1')",
    "ip('::1') != ip('::2')",
    "ip(d)",
    "ip(dyn('::1'))",
    "ip(1)",
  ];
  for (const v of versions) for (const f of ["semver", "isSemver"]) yield* [`${f}(${v})`, `${f}(${v}, true)`];
  for (const v of versions.slice(9, 17)) {
    for (const f of ["major", "minor", "patch"]) yield `semver(${v}).${f}()`;
    for (const w of versions.slice(9, 17))
      yield* ["isGreaterThan", "isLessThan", "compareTo"].map((f) => `semver(${v}).${f}(semver(${w}))`);
    yield `semver(${v}) == semver('1.2.3')`;
  }
  yield* [
    "semver(s)",
    "isSemver(s)",
    "semver(s, true)",
    "semver('18446744073709551615.0.1').major()",
    "semver('1.10.0').isGreaterThan(semver('1.9.0'))",
  ];
  for (const u of urls) {
    yield `isURL(${u})`;
    yield `url(${u})`;
    for (const f of ["getScheme", "getHost", "getHostname", "getPort", "getEscapedPath", "getQuery"])
      yield `url(${u}).${f}()`;
  }
  yield* [
    "url(s)",
    "isURL(s)",
    "url(s) == url(s)",
    "url('http://a') == url('http://a/')",
    "url('http://a') != url('http://a')",
    "url('http://A') == url('http://a')",
    "url(s).getHost() + s",
  ];
  for (const q of quantities) {
    yield `quantity(${q})`;
    for (const f of ["isInteger", "asInteger", "asApproximateFloat"]) yield `quantity(${q}).${f}()`;
    yield `isQuantity(${q})`;
    yield `sign(quantity(${q}))`;
    for (const f of ["isLessThan", "isGreaterThan", "compareTo"]) yield `quantity(${q}).${f}(quantity('1'))`;
    yield `quantity(${q}).add(1).sub(quantity('1k')).asApproximateFloat()`;
  }
  for (const f of formats) {
    for (const n of names) yield `format.${f}().validate(${n})`;
    yield `format.${f}().validate(l.map(e, s + s).join(s))`;
    yield `format.named('${f}').value().validate(s)`;
    yield `format.named('${f}') == optional.of(format.${f}())`;
  }
  yield* [
    "format.named('x')",
    "format.named(s)",
    "format.uri() == format.uuid()",
    "format.named(1)",
    "format.uri().validate(d)",
  ];
  for (const verb of ["%s", "%d", "%f", "%.2f", "%e", "%.20e", "%b", "%o", "%x", "%X", "%.0f"])
    for (const v of values) yield* [`'<${verb}>'.format([${v}])`, `'<${verb}>'.format([dyn(${v})])`];
  yield* [
    "'%'.format([])",
    "'%s'.format([])",
    "'%s'.format([1, 2])",
    "'%%'.format([])",
    "'%.s'.format([1])",
    "'%.3'.format([1])",
    "'%q'.format([1])",
    "'%s'.format([[quantity('1')]])",
    "s.format([])",
    "s.format(d)",
    "'%s %s'.format(d)",
    "'%s'.format(l)",
    "'%s'.format([l, n])",
    "'%d %s'.format(['a', quantity('1')])",
    "('%' + s).format(l)",
  ];
  for (const w of words) {
    yield* [
      "lowerAscii()",
      "upperAscii()",
      "trim()",
      "charAt(0)",
      "charAt(9)",
      "charAt(-1)",
      "indexOf('a')",
      "indexOf('')",
      "indexOf('a', 2)",
      "indexOf('a', -1)",
      "indexOf('', 99)",
    ].map((f) => `${w}.${f}`);
    yield* [
      "lastIndexOf('a')",
      "lastIndexOf('')",
      "lastIndexOf('a', 1)",
      "lastIndexOf('a', 99)",
      "lastIndexOf('aaaa', 2)",
      "substring(1)",
      "substring(0, 2)",
      "substring(2, 1)",
      "substring(-1)",
      "substring(0, 99)",
    ].map((f) => `${w}.${f}`);
    yield* [
      "replace('a', 'bb')",
      "replace('a', '', 1)",
      "replace('', '-')",
      "replace('', '-', 2)",
      "replace('a', 'b', 0)",
      "replace('a', 'b', -1)",
      "split('')",
      "split(',')",
      "split(',', 0)",
      "split(',', 2)",
      "split('', 2)",
      "split('a', -1)",
      "matches('[a-z]+')",
      "find('a.')",
      "findAll('a')",
      "findAll('a*')",
      "findAll('a', 1)",
      "findAll('a', 0)",
      "findAll('(')",
    ].map((f) => `${w}.${f}`);
    yield* [
      `strings.quote(${w})`,
      `jsonpatch.escapeKey(${w} + '/~')`,
      `[${w}, ${w}].join()`,
      `[${w}, 'x'].join('--')`,
      `size(${w})`,
      `bytes(${w})`,
      `${w}.contains('a')`,
      `${w} < 'b'`,
    ];
  }
  for (const f of [
    "lowerAscii()",
    "trim()",
    "charAt(1)",
    "indexOf('o')",
    "lastIndexOf(s)",
    "substring(4)",
    "replace('o', '0000')",
    "replace(s, '')",
    "replace('', s)",
    "split(' ')",
    "split(' ', 3)",
    "find(s)",
    "findAll('o')",
    "matches(s)",
    "contains(s)",
    "startsWith(s)",
  ])
    yield* [`s.${f}`, `s.${f} == s.${f}`];
  for (const x of lists) {
    for (const f of [
      "isSorted()",
      "sum()",
      "min()",
      "max()",
      "indexOf(1)",
      "lastIndexOf('a')",
      "join()",
      "join(s)",
      "sort()",
      "distinct()",
      "reverse()",
      "flatten()",
      "flatten(1)",
      "flatten(-1)",
      "slice(0, 1)",
      "slice(1, 0)",
      "slice(-1, 1)",
      "slice(0, 99)",
      "first()",
      "last()",
      "sortBy(e, e)",
      "sortBy(e, -1)",
      "sortBy(e, [e])",
    ])
      yield `${x}.${f}`;
    for (const f of ["contains", "equivalent", "intersects"]) yield* [`sets.${f}(${x}, ${x})`, `sets.${f}(${x}, [])`];
    yield* [
      `${x}.all(i, v, i < 9)`,
      `${x}.exists(i, v, i == 1)`,
      `${x}.existsOne(i, v, i == 0)`,
      `${x}.transformList(i, v, i)`,
      `${x}.transformList(i, v, i > 0, [v])`,
      `${x}.transformMap(i, v, v)`,
      `${x}.transformMapEntry(i, v, {i: v})`,
    ];
    yield* [
      `${x}.sortBy(e, string(e))`,
      `${x}.map(e, e).sort() == ${x}`,
      `[${x}, ${x}].flatten()`,
      `[[${x}]].flatten(2)`,
      `${x} + ${x}`,
      `size(${x})`,
    ];
  }
  for (const count of ["0", "3", "-1", "size(n)"]) yield `lists.range(${count})`;
  yield* [
    "[{'k': 2}, {'k': 1}].sortBy(e, e.k)",
    "'a'.sortBy(e, e)",
    "{'a': 1}.sortBy(e, e)",
    "[1].sortBy(1, e)",
    "dyn([1, 2]).flatten()",
    "dyn('a').flatten()",
    "[double('NaN'), 1.0].sort()",
    "[1, 2].flatten()",
  ];
  for (const verb of ["get", "list", "fail"]) {
    for (const q of [
      "authorizer.path('/healthz')",
      resource,
      `${resource}.subresource('status').namespace('ns').name('n')`,
      "authorizer.serviceAccount('ns', 'sa').group('').resource('pods')",
      `${resource}.fieldSelector('a=b').labelSelector('c in (d,e)')`,
      `${resource}.fieldSelector('==').labelSelector('!!')`,
    ])
      for (const f of ["allowed", "reason", "errored", "error"]) yield `${q}.check('${verb}').${f}()`;
  }
  yield* [
    "authorizer.path(' ')",
    "authorizer.group('').resource(' ')",
    "authorizer.serviceAccount('A', 'a')",
    "authorizer.serviceAccount('a', 'A')",
    "authorizer.serviceAccount('a', 'a.b')",
    "authorizer.serviceAccount('a.b', 'a')",
    "authorizer",
    `${resource}`,
    `${resource}.check('get')`,
    "authorizer == authorizer",
    `${resource}.fieldSelector(s)`,
    `${resource}.labelSelector(s).check('get').allowed()`,
  ];
  yield* [
    "optional.of(1).or(optional.none())",
    "optional.none().orValue(1)",
    "optional.ofNonZeroValue(0)",
    "optional.of('a').optMap(v, v + s)",
    "optional.none().value()",
    "[optional.of(1), optional.none()].unwrapOpt()",
    "{'a': 1}.?a",
    "{?'a': optional.none()}",
    "[?optional.of(1)]",
    "l[?9]",
    "{'a': {'b': 1}}.?a.?c.orValue(3)",
  ];
  yield* [
    "duration('x')",
    "timestamp('x')",
    "'a'.matches('(')",
    "[1, 'a']",
    "{'a': 1, 1: 2}",
    "[1, dyn('a')]",
    "1 < 2.0",
    "1u < 2",
    "1.0 == 1",
    "dyn(1) == 1u",
    "has({'a': 1}.a)",
    "1 in [1, 2]",
    "'a' in {'a': 1}",
    "b + b",
    "s + s",
    "size(b)",
    "string(b)",
    "b == b",
    "l == l",
    "1 / 0",
    "9223372036854775807 + 1",
  ];
  yield* overflows();
  yield* times();
  yield* comparisons();
  yield* freeTypes();
}

function* overflows(): Generator<string> {
  const [most, least] = ["9223372036854775807", "-9223372036854775808"];
  const [longest, shortest] = ["duration('2562047h47m16.854775807s')", "duration('-2562047h47m16.854775808s')"];
  const [last, first] = ["timestamp('9999-12-31T23:59:59Z')", "timestamp('0001-01-01T00:00:00Z')"];
  yield* [
    `${least} - 1`,
    `${most} * 2`,
    `-(${least})`,
    `${least} / -1`,
    `${least} % -1`,
    "1 % 0",
    "1u % 0u",
    "1u / 0u",
  ];
  yield* ["18446744073709551615u + 1u", "0u - 1u", "18446744073709551615u * 2u", "int(18446744073709551615u)"];
  yield* ["int(1e30)", "int(-1e30)", "uint(-1)", "uint(-1.0)", "uint(1e30)", "double('1e400')", "1.0 / 0.0"];
  yield* [`${longest} + ${longest}`, `${shortest} - ${longest}`, `-dyn(${shortest})`, `${longest} + duration('1ns')`];
  yield* [`${last} + duration('1s')`, `${first} - duration('1s')`, `${first} - duration('0.1s')`, `${last} - ${first}`];
  yield* [`${last} - ${shortest}`, `duration('1s') + ${last}`, "timestamp(253402300800)", "timestamp(-62135596801)"];
  yield* ["timestamp(0)", `int(${longest})`, "timestamp('9999-12-31T23:59:59-01:00')", `[${most}, 1].sum()`];
  yield* ["[18446744073709551615u, 1u].sum()", `[${longest}, ${longest}].sum()`];
}

function* times(): Generator<string> {
  for (const offset of "Z +00:00 -00:00 +01:00 -05:30 +23:59 +24:00 +24:60 +25:00 +01:61 +1:00 +01".split(" "))
    yield* [
      `string(timestamp('2026-01-02T03:04:05${offset}'))`,
      `timestamp('2026-01-02T03:04:05.120${offset}') + duration('1h')`,
    ];
  const there = "timestamp('2026-01-02T00:04:05+01:00')";
  yield* [`'%s'.format([${there}])`, `'%s'.format([[${there}, {'a': ${there}}]])`, `timestamp(${there})`];
  yield* [`duration('1h') + ${there}`, `${there} - duration('1h')`, `${there} - ${there}`, `dyn(${there})`];
  yield* [`${there} == timestamp('2026-01-01T23:04:05Z')`, `${there} < timestamp('2026-01-01T23:04:06Z')`];
  yield* [`[${there}].min()`, `string(timestamp(string(${there})))`, `{'a': ${there}}.a`, `int(${there})`];
  const zones =
    "UTC Local Europe/Berlin europe/berlin US/Central +01:00 -01:30 01:00 +1:0 -0:30 : +: 1 Nowhere utc".split(" ");
  for (const zone of ["", ...zones]) yield* [`${there}.getHours('${zone}')`, `${there}.getDate('${zone}')`];
  yield* ["getHours", "getDate", "getDayOfMonth", "getDayOfYear", "getMonth"].map((name) => `${there}.${name}()`);
}

function* comparisons(): Generator<string> {
  const nan = "double('NaN')";
  yield* ["<", "<=", ">", ">=", "==", "!="].flatMap((sign) => [
    `${nan} ${sign} 1.0`,
    `1 ${sign} ${nan}`,
    `${nan} ${sign} ${nan}`,
  ]);
  for (const list of [`[${nan}, 1.0]`, `[1.0, ${nan}]`, `[2.0, ${nan}, 1.0]`])
    yield* ["min()", "max()", "isSorted()", "sum()", "sort()", "distinct()", "indexOf(1.0)"].map((f) => `${list}.${f}`);
  yield* [`${nan} in [${nan}]`, `[${nan}] == [${nan}]`, `[${nan}, ${nan}].distinct()`, `[${nan}].indexOf(${nan})`];
  for (const [item, constants] of [
    ["null", "[dyn(null)]"],
    ["duration('1s')", "[duration('1s'), duration('2s')]"],
    ["timestamp(0)", "[timestamp(0), timestamp(1)]"],
    ["[1]", "[[1], [2]]"],
    ["{'a': 1}", "[{'a': 1}]"],
    ["b'a'", "[b'a']"],
    ["dyn(b'a')", "['a']"],
    ["dyn(1)", "[dyn(1.0), dyn('a')]"],
    ["type(1)", "[int, string]"],
    ["true", "[true]"],
    ["1u", "[1u]"],
    ["1.5", "[1.5, 2.0]"],
    ["dyn(1)", "[]"],
  ])
    yield `${item} in ${constants}`;
  const opaque = [
    "quantity('1')",
    "url('http://a')",
    "ip('10.0.0.1')",
    "cidr('10.0.0.0/8')",
    "semver('1.0.0')",
    "format.uri()",
  ];
  for (const value of opaque)
    yield* [
      `${value} == dyn(1)`,
      `${value} != dyn(1)`,
      `dyn(1) == ${value}`,
      `${value} == dyn(null)`,
      `[${value}] == dyn([1])`,
      `{'a': ${value}} == dyn({'a': 1})`,
      `optional.of(${value}) == dyn(optional.of(1))`,
      `dyn(${value}) in [1]`,
      `dyn(${value}) in [dyn(1), dyn(null)]`,
      `1 in [dyn(${value})]`,
      `[dyn(${value}), dyn(1)].distinct().size()`,
      `[dyn(${value})].indexOf(1)`,
      `sets.contains([dyn(${value})], [dyn(1)])`,
      `sets.equivalent([dyn(1)], [dyn(${value})])`,
    ];
  for (const text of ["10.0.0.0", "x", "10.0.0.0/33", "::ffff:1.2.3.4/100", "10.0.0.0/8/9", "", "10.1.0.0/16"])
    yield* [`cidr('10.0.0.0/8').containsCIDR('${text}')`, `cidr('10.0.0.0/8').containsIP('${text}')`];
}

/** Calls whose arguments have a type that the checker leaves free. */
function* freeTypes(): Generator<string> {
  const each = (text: string): string[] => text.split("; ");
  const ofLists = each(
    "size(); sort(); sortBy(x, x); isSorted(); min(); max(); sum(); join(); join('-'); first(); last(); indexOf('a'); lastIndexOf(1); reverse(); " +
      "slice(0, 1); distinct(); unwrapOpt(); flatten()",
  );
  for (const list of each("d.slice(0, 1); d.slice(1, 2); d.distinct(); d.reverse(); d.flatten(); d.flatten(1)")) {
    yield* ofLists.map((f) => `${list}.${f}`);
    yield* each("+ []; + ['b']; + [2]; + d; == d; != ['a']").map((sign) => `${list} ${sign}`);
    yield* each("size() < 64; startsWith('a'); size() == 1 || true").map((test) => `${list}.all(x, x.${test})`);
  }
  const ofElements = each(
    "x.size(); size(x); -x; !x; x + x; x + 'b'; 'b' + x; x + 1; 1 + x; x - x; x - 1; x * 2; x / 2; x % 2; x < x; x < 'b'; x < 2; 2 >= x; x <= 1.5; " +
      "x == 1; x in ['a']; x in d; 1 in x; x.matches('a'); matches(x, 'a'); x ? 1 : 2; x.startsWith('a'); x.contains('a'); x.lowerAscii(); " +
      "x.split(''); string(x); int(x); double(x); bytes(x); type(x); dyn(x); x.a; x[0]; x.?a; has(x.a); quantity(x); duration(x); x.all(y, true); " +
      "x.map(y, y); '%s'.format([x]); [x].sort()",
  );
  for (const part of each("[0]; [?0].value(); .first().value(); .last().orValue('b'); [?0].orValue(2)"))
    for (const call of ofElements) yield call.replace(/\bx\b(?!,)/g, `d.distinct()${part}`);
}

for (const expression of new Set(expressions())) console.log(expression);
