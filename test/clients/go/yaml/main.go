// Command yaml reads texts, one per line in base64, and writes the result of sigs.k8s.io/yaml for each: a line of JSON with
// the converted JSON or the error, and the error of strict decoding.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"

	"sigs.k8s.io/yaml"
)

type answer struct {
	JSON   string `json:"json,omitempty"`
	Error  string `json:"error,omitempty"`
	Strict string `json:"strict,omitempty"`
}

func read(text []byte) (result answer) {
	defer func() {
		if failure := recover(); failure != nil {
			result = answer{Error: fmt.Sprint("panic: ", failure)}
		}
	}()
	converted, err := yaml.YAMLToJSON(text)
	if err != nil {
		return answer{Error: err.Error()}
	}
	result.JSON = string(converted)
	if _, err := yaml.YAMLToJSONStrict(text); err != nil {
		result.Strict = err.Error()
	}
	return result
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			return
		}
		if err != nil {
			log.Fatal(err)
		}
		text, err := base64.StdEncoding.DecodeString(line)
		if err != nil {
			log.Fatal(err)
		}
		if err := answers.Encode(read(text)); err != nil {
			log.Fatal(err)
		}
	}
}
