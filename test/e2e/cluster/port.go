package cluster

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
)

// portRange names the file with the first and last port that the kernel gives to outgoing
// connections.
const portRange = "/proc/sys/net/ipv4/ip_local_port_range"

var chosen struct {
	sync.Mutex
	first, count int // what is chosen from; count 0: not known yet
	next         int // offset from first
}

// FreePort returns a port of 127.0.0.1 that is not in use and that this process was not given
// before. No outgoing connection takes it either, so that a daemon which is started again finds
// its port free: it is outside the range that the kernel chooses those from.
func FreePort() (int, error) {
	chosen.Lock()
	defer chosen.Unlock()
	if chosen.count == 0 {
		text, err := os.ReadFile(portRange)
		if err != nil {
			return 0, err
		}
		chosen.first, chosen.count, err = portsOutside(string(text))
		if err != nil {
			return 0, fmt.Errorf("%s: %w", portRange, err)
		}
		// Others may be choosing on this machine, too.
		chosen.next = rand.IntN(chosen.count)
	}
	for range chosen.count {
		port := chosen.first + chosen.next
		chosen.next = (chosen.next + 1) % chosen.count
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("each of the %d ports from %d on is in use", chosen.count, chosen.first)
}

// portsOutside returns the larger part of the ports below and above a range ("32768\t60999\n").
// Well-known ports are left out, and so are those below 20000 where enough remain.
func portsOutside(kernel string) (first, count int, err error) {
	var low, high int

	if _, err := fmt.Sscan(kernel, &low, &high); err != nil {
		return 0, 0, fmt.Errorf("%q: %w", kernel, err)
	}
	first = 20000
	if low < first+2000 {
		first = 1024
	}
	count = low - first
	if above := 65535 - high; above > count {
		first, count = high+1, above
	}
	if count < 100 {
		return 0, 0, fmt.Errorf("ports %d to %d are for outgoing connections: too few are left to listen on", low, high)
	}
	return first, count, nil
}
