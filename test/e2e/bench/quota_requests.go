package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// All requests of all clients, reads as well.
const quotaAuditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  verbs: [create, update, patch, delete, deletecollection, get, list]
- level: None
`

// client says which requests are counted: those of programs with a name that begins like this, or those of a user.
type client struct {
	program, user string // one of them
}

// readAsked counts in the audit log what a client asked for: "patch workloads/status", with the code when it was
// refused.
func readAsked(dir string, who client) (map[string]int, error) {
	f, err := os.Open(auditLog(dir))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	asked := map[string]int{}
	lines := bufio.NewReaderSize(f, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return asked, nil
		}
		if err == nil {
			err = addAsked(asked, line, who)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", auditLog(dir), err)
		}
	}
}

func addAsked(asked map[string]int, line []byte, who client) error {
	var e struct {
		auditEvent
		UserAgent string
		User      struct{ Username string }
	}

	// Most lines are others'.
	if !bytes.Contains(line, []byte(who.program+who.user)) {
		return nil
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	if !strings.HasPrefix(e.UserAgent, who.program) || who.user != "" && e.User.Username != who.user {
		return nil
	}
	what := e.Verb + " " + e.ObjectRef.Resource
	if e.ObjectRef.Subresource != "" {
		what += "/" + e.ObjectRef.Subresource
	}
	if e.ResponseStatus.Code >= 300 {
		what += fmt.Sprintf(" (%d)", e.ResponseStatus.Code)
	}
	asked[what]++
	return nil
}
