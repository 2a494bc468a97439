package headgate

import (
	"io"
	"net"
	"sync"
	"time"
)

// Front is what the Service is in a cluster: one address, and connections go in turn to the
// replicas that are in rotation.
type Front struct {
	l net.Listener

	mu       sync.Mutex
	backends []string
	next     int
}

// NewFront listens on a free port of loopback.
func NewFront() (*Front, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &Front{l: l}
	go f.serve()
	return f, nil
}

// URL of the front for the API server.
func (f *Front) URL() string {
	return "https://" + f.l.Addr().String()
}

// Add puts a replica into rotation, Remove takes it out; connections that there are stay.
func (f *Front) Add(address string) {
	f.Remove(address)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.backends = append(f.backends, address)
}

// Remove: see Add.
func (f *Front) Remove(address string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, b := range f.backends {
		if b == address {
			f.backends = append(f.backends[:i:i], f.backends[i+1:]...)
			return
		}
	}
}

// Close ends listening.
func (f *Front) Close() {
	_ = f.l.Close()
}

func (f *Front) serve() {
	for {
		c, err := f.l.Accept()
		if err != nil {
			return
		}
		go f.forward(c.(*net.TCPConn))
	}
}

// pick returns the backends in the order in which they are to be tried.
func (f *Front) pick() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.backends)
	if n == 0 {
		return nil
	}
	f.next++
	return append(append([]string{}, f.backends[f.next%n:]...), f.backends[:f.next%n]...)
}

func (f *Front) forward(client *net.TCPConn) {
	defer client.Close()
	for _, address := range f.pick() {
		c, err := net.DialTimeout("tcp", address, 2*time.Second)
		if err != nil {
			continue
		}
		server := c.(*net.TCPConn)
		defer server.Close()
		done := make(chan struct{}, 2)
		copyHalf := func(to, from *net.TCPConn) {
			_, _ = io.Copy(to, from)
			_ = to.CloseWrite()
			done <- struct{}{}
		}
		go copyHalf(server, client)
		go copyHalf(client, server)
		<-done
		<-done
		return
	}
}
