// Records frames that moby/spdystream writes on one connection: rows with a frame and its bytes. Each frame has at most
// one header, because the library writes several in random order.
package main

import (
	"bytes"
	"fmt"
	"math/rand"
	"net/http"
	"strings"

	"github.com/moby/spdystream/spdy"

	"coxswain/tools/golden/internal/fixture"
)

var chance = rand.New(rand.NewSource(31))

type row struct {
	Type    string              `json:"type"`
	Id      uint32              `json:"id"`
	Fin     bool                `json:"fin"`
	Headers map[string][]string `json:"headers,omitempty"`
	Status  uint32              `json:"status"`
	Data    []byte              `json:"data,omitempty"`
	Bytes   []byte              `json:"bytes"`
}

var names = []string{"streamtype", "port", "requestid", "x-long"}
var values = []string{"error", "stdin", "stdout", "stderr", "resize", "data", "8080", "0", ""}

func headers() http.Header {
	header := http.Header{}
	if chance.Intn(6) == 0 {
		return header
	}
	name := names[chance.Intn(len(names))]
	for n := 1 + chance.Intn(2); n > 0; n-- {
		value := values[chance.Intn(len(values))]
		if name == "x-long" {
			value = strings.Repeat(fmt.Sprintf("%d,", chance.Intn(1000)), 1+chance.Intn(900))
		}
		header[name] = append(header[name], value)
	}
	return header
}

func data() []byte {
	out := make([]byte, chance.Intn(300))
	chance.Read(out)
	return out
}

func frame(id spdy.StreamId, fin bool) (row, spdy.Frame) {
	flags := spdy.ControlFlags(0)
	if fin {
		flags = spdy.ControlFlagFin
	}
	control := spdy.ControlFrameHeader{Flags: flags}
	r := row{Id: uint32(id), Fin: fin}
	switch chance.Intn(9) {
	case 0:
		h := headers()
		r.Type, r.Headers = "synStream", h
		return r, &spdy.SynStreamFrame{CFHeader: control, StreamId: id, Headers: h, Priority: uint8(chance.Intn(8))}
	case 1:
		h := headers()
		r.Type, r.Headers = "synReply", h
		return r, &spdy.SynReplyFrame{CFHeader: control, StreamId: id, Headers: h}
	case 2:
		h := headers()
		r.Type, r.Headers = "headers", h
		return r, &spdy.HeadersFrame{CFHeader: control, StreamId: id, Headers: h}
	case 3:
		status := spdy.RstStreamStatus(1 + chance.Intn(11))
		r.Type, r.Status, r.Fin = "rstStream", uint32(status), false
		return r, &spdy.RstStreamFrame{StreamId: id, Status: status}
	case 4:
		r.Type, r.Fin = "ping", false
		return r, &spdy.PingFrame{Id: uint32(id)}
	case 5:
		r.Type, r.Status, r.Fin = "goAway", uint32(chance.Intn(3)), false
		return r, &spdy.GoAwayFrame{LastGoodStreamId: id, Status: spdy.GoAwayStatus(r.Status)}
	case 6:
		r.Type, r.Id, r.Fin = "ignored", 0, false
		if chance.Intn(2) == 0 {
			return r, &spdy.WindowUpdateFrame{StreamId: id, DeltaWindowSize: 65536}
		}
		values := []spdy.SettingsFlagIdValue{{Id: spdy.SettingsMaxConcurrentStreams, Value: 100}}
		return r, &spdy.SettingsFrame{FlagIdValues: values}
	default:
		d := data()
		r.Type, r.Data = "data", d
		return r, &spdy.DataFrame{StreamId: id, Flags: spdy.DataFlags(flags), Data: d}
	}
}

func main() {
	var written bytes.Buffer
	framer, err := spdy.NewFramer(&written, &written)
	fixture.Must(err)
	for i := 0; i < 400; i++ {
		id := spdy.StreamId(1 + chance.Intn(200))
		if chance.Intn(20) == 0 {
			id = 0x7fffffff
		}
		r, f := frame(id, chance.Intn(3) == 0)
		written.Reset()
		fixture.Must(framer.WriteFrame(f))
		r.Bytes = append([]byte{}, written.Bytes()...)
		fixture.Write(r)
	}
}
