package cluster

import (
	"fmt"
	"net"
	"testing"
)

func TestPortsOutside(t *testing.T) {
	for _, c := range []struct {
		kernel       string
		first, count int
	}{
		{"32768\t60999\n", 20000, 12768},
		{"22000 65535", 20000, 2000},
		{"21999 65535", 1024, 20975},
		{"15000\t65000\n", 1024, 13976},
		{"1024 32767", 32768, 32768},
		{"1124 65535", 1024, 100},
		{"1123 65535", 0, 0},
		{"1024 65535", 0, 0},
		{"32768", 0, 0},
		{"", 0, 0},
	} {
		first, count, err := portsOutside(c.kernel)
		if first != c.first || count != c.count || (err != nil) != (c.count == 0) {
			t.Errorf("%q: %d, %d, %v; want %d, %d", c.kernel, first, count, err, c.first, c.count)
		}
	}
}

// Each is given once, and those in use are skipped.
func TestFreePort(t *testing.T) {
	seen := map[int]bool{}
	for range 50 {
		port, err := FreePort()
		if err != nil {
			t.Fatal(err)
		}
		if seen[port] {
			t.Fatalf("port %d twice", port)
		}
		seen[port] = true
	}
	chosen.Lock()
	next := chosen.first + chosen.next
	chosen.Unlock()
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", next))
	if err != nil {
		t.Skipf("port %d: %v", next, err)
	}
	defer l.Close()
	port, err := FreePort()
	if err != nil || port == next {
		t.Fatalf("port %d, %v, where %d is taken", port, err, next)
	}
}
