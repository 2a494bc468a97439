package fleet

import (
	"io"
	"net"
	"sync"
	"time"
)

// line is the network between the manager and a worker: it forwards connections to the API server, until it is cut.
type line struct {
	listener net.Listener
	address  string // of the API server

	mu   sync.Mutex
	cut  bool
	open map[net.Conn]bool
}

func newLine(address string) (*line, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	n := &line{listener: l, address: address, open: map[net.Conn]bool{}}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go n.forward(c)
		}
	}()
	return n, nil
}

func (n *line) url() string {
	return "https://" + n.listener.Addr().String()
}

// hold keeps connections that are closed when the line is cut; false: it is cut, and they are closed.
func (n *line) hold(connections ...net.Conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range connections {
		if n.cut {
			_ = c.Close()
		} else {
			n.open[c] = true
		}
	}
	return !n.cut
}

func (n *line) drop(connections ...net.Conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range connections {
		_ = c.Close()
		delete(n.open, c)
	}
}

func (n *line) forward(client net.Conn) {
	server, err := net.DialTimeout("tcp", n.address, 10*time.Second)
	if err != nil {
		_ = client.Close()
		return
	}
	if !n.hold(client, server) {
		return
	}
	defer n.drop(client, server)
	done := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{client, server}, {server, client}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1])
			done <- struct{}{}
		}()
	}
	<-done
}

// set cuts the line, with all connections, or mends it.
func (n *line) set(cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut = cut
	for c := range n.open {
		if cut {
			_ = c.Close()
			delete(n.open, c)
		}
	}
}

func (n *line) stop() {
	_ = n.listener.Close()
	n.set(true)
}
