package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// The API server writes down what the accounts of one group asked for, and whether they might: nothing
// of what was in it.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  userGroups: [%q]
- level: None
`

// Request of an account in the audit log. A watch is there when it begins, and
// again when it ends.
type Request struct {
	At      time.Time // when it came
	User    string    // "system:serviceaccount:headgate-system:headgate-scheduler"
	Verb    string
	Group   string
	What    string // "pods", "pods/status"
	Name    string // empty: a whole collection
	Code    int
	Refused bool // by authorization
}

func (r Request) String() string {
	return fmt.Sprintf("%s %s %s %s: %d", r.Verb, r.Group, r.What, r.Name, r.Code)
}

func (c *Cluster) auditArgs(group string) ([]string, error) {
	if group == "" {
		return nil, nil
	}
	policy := filepath.Join(c.Dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, fmt.Appendf(nil, auditPolicy, group), 0o644); err != nil {
		return nil, err
	}
	// Blocking: what was answered is in the file.
	return []string{"--audit-policy-file=" + policy, "--audit-log-path=" + c.auditLog(),
		"--audit-log-mode=blocking", "--audit-log-maxsize=4096"}, nil
}

func (c *Cluster) auditLog() string {
	return filepath.Join(c.Dir, "audit.log")
}

// Requests returns what was asked since an offset that an earlier call returned, and the next
// offset. 0 is the beginning.
func (c *Cluster) Requests(from int64) ([]Request, int64, error) {
	f, err := os.Open(c.auditLog())
	if errors.Is(err, os.ErrNotExist) {
		return nil, from, nil
	}
	if err != nil {
		return nil, from, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, from, 1<<62))
	if err != nil {
		return nil, from, err
	}
	// The last line may be half written.
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	var requests []Request
	for line := range bytes.Lines(text) {
		r, err := parseAudit(line)
		if err != nil {
			return nil, from, fmt.Errorf("%s: %w", c.auditLog(), err)
		}
		requests = append(requests, r)
	}
	return requests, from + int64(len(text)), nil
}

func parseAudit(line []byte) (Request, error) {
	var e struct {
		Came           time.Time `json:"requestReceivedTimestamp"`
		Verb           string
		User           struct{ Username string }
		ObjectRef      struct{ APIGroup, Resource, Subresource, Name string }
		ResponseStatus struct{ Code int }
		Annotations    map[string]string
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return Request{}, err
	}
	what := e.ObjectRef.Resource
	if e.ObjectRef.Subresource != "" {
		what += "/" + e.ObjectRef.Subresource
	}
	return Request{At: e.Came, User: e.User.Username, Verb: e.Verb, Group: e.ObjectRef.APIGroup, What: what,
		Name: e.ObjectRef.Name, Code: e.ResponseStatus.Code,
		Refused: e.Annotations["authorization.k8s.io/decision"] == "forbid"}, nil
}
