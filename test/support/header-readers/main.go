// Answers every request with what Go's net/http reads of the header X-User. It writes its port first, and ends with its
// standard input.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	http.Serve(listener, http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		values := append(request.Header.Values("X-User"), request.Header.Get("X-User"))
		json.NewEncoder(response).Encode(values)
	}))
}
