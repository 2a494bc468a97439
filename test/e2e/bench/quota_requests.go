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

// readAsked counts in the audit log what programs with a name asked for: "patch workloads/status",
// with the code when it was refused.
func readAsked(dir, program string) (map[string]int, error) {
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
			err = addAsked(asked, line, program)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", auditLog(dir), err)
		}
	}
}

func addAsked(asked map[string]int, line []byte, program string) error {
	var e struct {
		auditEvent
		UserAgent string
	}

	// Most lines are others'.
	if !bytes.Contains(line, []byte(program)) {
		return nil
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	if !strings.HasPrefix(e.UserAgent, program) {
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
