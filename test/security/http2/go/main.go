// Command http2 is a reference for the HTTP/2 fuzzer: golang.org/x/net/http2 with the configuration of kube-apiserver.
//
//	http2 serve   serves HTTP/2 without TLS on a free port of 127.0.0.1, which it prints
//	http2 hpack   reads one JSON object per line, {"table": bytes, "blocks": [hex]}, and writes the decoded fields
package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

func main() {
	log.SetOutput(io.Discard)
	switch os.Args[1] {
	case "serve":
		serve()
	case "hpack":
		decode()
	}
}

var large = bytes.Repeat([]byte("x"), 200_000)

func handle(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/hang":
		<-r.Context().Done()
	case "/early":
		w.WriteHeader(202)
	case "/large":
		w.Write(large)
	default:
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprintf(w, "%s %d", r.Method, len(body))
	}
}

// serve uses the settings of apiserver/pkg/server/secure_serving.go.
func serve() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go func() {
		// The test has ended.
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	server := &http2.Server{
		IdleTimeout:                  90 * time.Second,
		MaxUploadBufferPerStream:     256 * 1024,
		MaxReadFrameSize:             256 * 1024,
		MaxConcurrentStreams:         100,
		MaxUploadBufferPerConnection: 100 * 256 * 1024,
	}
	base := &http.Server{MaxHeaderBytes: 1 << 20, ErrorLog: log.New(io.Discard, "", 0)}
	if err := http2.ConfigureServer(base, server); err != nil {
		panic(err)
	}
	for {
		connection, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		go func() {
			defer connection.Close()
			server.ServeConn(connection, &http2.ServeConnOpts{BaseConfig: base, Handler: http.HandlerFunc(handle)})
		}()
	}
}

type question struct {
	Table  uint32   `json:"table"`
	Blocks []string `json:"blocks"`
}

// answer contains the fields of each block, names and values alternating, as hex; it has fewer blocks than the question if one is malformed.
type answer struct {
	Blocks [][]string `json:"blocks"`
	Error  string     `json:"error,omitempty"`
}

func decode() {
	lines := bufio.NewReader(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked question
		if err := json.Unmarshal(line, &asked); err != nil {
			panic(err)
		}
		reply, _ := json.Marshal(decodeAll(asked))
		out.Write(append(reply, '\n'))
		out.Flush()
	}
}

func decodeAll(asked question) answer {
	reply := answer{Blocks: [][]string{}}
	decoder := hpack.NewDecoder(4096, nil)
	decoder.SetMaxDynamicTableSize(asked.Table)
	decoder.SetAllowedMaxDynamicTableSize(asked.Table)
	for _, text := range asked.Blocks {
		block, _ := hex.DecodeString(text)
		fields, err := decoder.DecodeFull(block)
		if err != nil {
			reply.Error = err.Error()
			return reply
		}
		list := []string{}
		for _, field := range fields {
			list = append(list, hex.EncodeToString([]byte(field.Name)), hex.EncodeToString([]byte(field.Value)))
		}
		reply.Blocks = append(reply.Blocks, list)
	}
	return reply
}
