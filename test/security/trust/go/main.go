// Reports the error of Go's HTTP client for the certificate of each server. Input: lines of JSON with the URL and the CA
// bundle; output: a line of JSON for each, empty for a trusted server.
package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
)

func main() {
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 1<<20)
	output := json.NewEncoder(os.Stdout)
	for input.Scan() {
		var asked struct{ Url, Bundle, ServerName string }
		if err := json.Unmarshal(input.Bytes(), &asked); err != nil {
			panic(err)
		}
		output.Encode(said(asked.Url, asked.Bundle, asked.ServerName))
	}
}

func said(address, bundle, serverName string) string {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(bundle))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: serverName}}
	answer, err := (&http.Client{Transport: transport}).Get(address)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return err.Error()
	}
	answer.Body.Close()
	return ""
}
