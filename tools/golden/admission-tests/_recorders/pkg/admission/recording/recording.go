// Package recording writes one line of JSON for each call of a recorded function.
package recording

import (
	"encoding/json"
	"os"
	"sync"
)

var mutex sync.Mutex

// Write appends facts about a call to the file that RECORDING names.
func Write(facts any) {
	line, err := json.Marshal(facts)
	if err != nil {
		panic(err)
	}
	mutex.Lock()
	defer mutex.Unlock()
	file, err := os.OpenFile(os.Getenv("RECORDING"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	if _, err := file.Write(append(line, '\n')); err != nil {
		panic(err)
	}
}

// Message returns the text of an error, or nothing.
func Message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// CompatibilityVersion is that of the last CEL environment; empty for the default.
var CompatibilityVersion string
