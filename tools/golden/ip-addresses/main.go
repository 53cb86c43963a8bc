// Records which IP addresses and CIDR prefixes upstream accepts: a row for each text with the errors and warnings of every rule.
package main

import (
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"coxswain/tools/golden/internal/fixture"
)

var addresses = []string{
	"", "1", "10.0.0.1", "10.0.0", "10.0.0.0.1", "010.0.0.1", "10.00.0.1", "10.0.0.256", "10.0.0.0256", "10.0.0.1 ", "a.b.c.d", "+10.0.0.1", "0.0.0.0", "0x1.2.3.4",
	"::", "::1", "0::1", "0:0:0:0:0:0:0:1", "00000::1", "2001:DB8::1", "2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1", "2001:db8:0:1:1:1:1:1", "2001:db8::0:1",
	"2001:0db8::1", "02001:db8::1", "fe80::1%eth0", "fe80::1", "::ffff:10.0.0.1", "::FFFF:10.0.0.1", "::ffff:010.0.0.1", "::ffff:a00:1", "::10.0.0.1", "1::2::3",
	":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:8::", "12345::1", "::g", "1:2:3:4:5:6:1.2.3.4", "169.254.1.1", "127.0.0.1", "224.0.0.1", "ff02::1", "ff12::1",
	"64:ff9b::1.2.3.4", "1::", "::ffff:0:0", "10.0.0.1\n",
}

var lengths = []string{"", "/", "/0", "/08", "/24", "/32", "/64", "/120", "/129", "/a"}

type row struct {
	Text                         string
	Legacy, Strict, Ip           []string `json:",omitempty"`
	LegacyCidr, StrictCidr, Cidr []string `json:",omitempty"`
	IpWarnings, CidrWarnings     []string `json:",omitempty"`
}

func texts(errors field.ErrorList) []string {
	var out []string
	for _, err := range errors {
		out = append(out, err.Error())
	}
	return out
}

func main() {
	p := field.NewPath("a")
	for _, address := range addresses {
		for _, length := range lengths {
			text := address + length
			r := row{Text: text}
			if length == "" {
				r.Legacy = texts(validation.IsValidIPForLegacyField(p, text, false, nil))
				r.Strict = texts(validation.IsValidIPForLegacyField(p, text, true, nil))
				r.Ip = texts(validation.IsValidIP(p, text))
				r.IpWarnings = validation.GetWarningsForIP(p, text)
			} else {
				r.LegacyCidr = texts(validation.IsValidCIDRForLegacyField(p, text, false, nil))
				r.StrictCidr = texts(validation.IsValidCIDRForLegacyField(p, text, true, nil))
				r.Cidr = texts(validation.IsValidCIDR(p, text))
				r.CidrWarnings = validation.GetWarningsForCIDR(p, text)
			}
			fixture.Write(r)
		}
	}
}
