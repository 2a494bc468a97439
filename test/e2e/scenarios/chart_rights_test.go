package scenarios

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	authv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"headgate/e2e/cluster"
	"headgate/e2e/headgate"
	"headgate/e2e/suite"
)

// right is one thing that an account may do.
type right struct {
	account string // "scheduler"
	verb    string
	group   string
	what    string // "pods/status"
	name    string // empty: any
}

func (r right) String() string {
	return strings.Join(slices.DeleteFunc([]string{r.account, r.verb, r.group, r.what, r.name},
		func(s string) bool { return s == "" }), " ")
}

// role is one of the chart's, as a list of rules that give one right each.
type role struct {
	rules []rbacv1.PolicyRule
	taken []bool
	patch func(body []byte) error
}

// refused: the request needs the right and was refused.
func (r right) refused(q cluster.Request) bool {
	return q.Refused && q.Verb == r.verb && q.Group == r.group && q.What == r.what &&
		(r.name == "" || r.name == q.Name)
}

// refusedForOwner: admission, not authorization, refuses an object that blocks the deletion of an
// owner without a right on its finalizers.
func (r right) refusedForOwner(q cluster.Request) bool {
	return strings.HasSuffix(r.what, "/finalizers") && q.Verb == "create" && q.What == "workloads" && q.Code == http.StatusForbidden
}

// grant is a right and where it comes from.
type grant struct {
	right
	role  *role
	index int
}

// set takes the right or gives it back.
func (g grant) set(taken bool) error {
	g.role.taken[g.index] = taken
	left := []rbacv1.PolicyRule{}
	for i, r := range g.role.rules {
		if !g.role.taken[i] {
			left = append(left, r)
		}
	}
	body, err := json.Marshal(map[string]any{"rules": left})
	if err != nil {
		return err
	}
	return g.role.patch(body)
}

// chartRights takes rights away, one after another.
type chartRights struct {
	*suite.S
	queue  string
	full   string // a queue without room
	serial int
	drain  *corev1.PodSpec
	// What makes the webhook registrations again, each one; nil: not known yet.
	registrations []func() error
}

// atoms splits rules into rules of one verb, one resource and at most one name.
func atoms(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	var atoms []rbacv1.PolicyRule
	for _, r := range rules {
		names := r.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, verb := range r.Verbs {
			for _, group := range r.APIGroups {
				for _, what := range r.Resources {
					for _, name := range names {
						one := rbacv1.PolicyRule{Verbs: []string{verb}, APIGroups: []string{group},
							Resources: []string{what}}
						if name != "" {
							one.ResourceNames = []string{name}
						}
						atoms = append(atoms, one)
					}
				}
			}
		}
	}
	return atoms
}

func grants(name string, rules []rbacv1.PolicyRule, patch func(body []byte) error) []grant {
	r := &role{rules: atoms(rules), patch: patch}
	r.taken = make([]bool, len(r.rules))
	var found []grant
	for i, a := range r.rules {
		g := grant{role: r, index: i, right: right{account: strings.TrimPrefix(name, headgate.Release+"-"),
			verb: a.Verbs[0], group: a.APIGroups[0], what: a.Resources[0]}}
		if len(a.ResourceNames) > 0 {
			g.name = a.ResourceNames[0]
		}
		found = append(found, g)
	}
	return found
}

// granted is everything that the chart's roles give.
func (c *chartRights) granted() []grant {
	c.Helper()
	rbac := c.Cluster.Client.RbacV1()
	ours := metav1.ListOptions{LabelSelector: "app.kubernetes.io/component!=user-roles,app.kubernetes.io/instance=" + headgate.Release}
	var found []grant
	whole, err := rbac.ClusterRoles().List(c.Ctx, ours)
	c.Must(err)
	for _, r := range whole.Items {
		found = append(found, grants(r.Name, r.Rules, func(body []byte) error {
			_, err := rbac.ClusterRoles().Patch(c.Ctx, r.Name, types.MergePatchType, body, metav1.PatchOptions{})
			return err
		})...)
	}
	spaced, err := rbac.Roles(headgate.Namespace).List(c.Ctx, ours)
	c.Must(err)
	for _, r := range spaced.Items {
		found = append(found, grants(r.Name, r.Rules, func(body []byte) error {
			_, err := rbac.Roles(r.Namespace).Patch(c.Ctx, r.Name, types.MergePatchType, body, metav1.PatchOptions{})
			return err
		})...)
	}
	return found
}

// waitAllowed waits until the API server's authorizer answers so.
func (c *chartRights) waitAllowed(r right, want bool) {
	c.Helper()
	what, sub, _ := strings.Cut(r.what, "/")
	review := &authv1.SubjectAccessReview{Spec: authv1.SubjectAccessReviewSpec{
		User: account(r.account),
		ResourceAttributes: &authv1.ResourceAttributes{Verb: r.verb, Group: r.group, Resource: what,
			Subresource: sub, Name: r.name, Namespace: headgate.Namespace}}}
	c.Eventually(fmt.Sprintf("%s: allowed is %v", r, want), func() error {
		answer, err := c.Cluster.Client.AuthorizationV1().SubjectAccessReviews().Create(c.Ctx, review, metav1.CreateOptions{})
		if err == nil && answer.Status.Allowed != want {
			err = errors.New(answer.Status.Reason)
		}
		return err
	})
}

func account(name string) string {
	return fmt.Sprintf("system:serviceaccount:%s:%s-%s", headgate.Namespace, headgate.Release, name)
}

// waitRefused waits until the program has asked for what it may not any more, and was refused.
func (c *chartRights) waitRefused(r right, from int64) {
	c.Helper()
	c.Eventually(fmt.Sprintf("%s is asked for and refused", r), func() error {
		requests, _, err := c.Cluster.Requests(from)
		if err != nil {
			return err
		}
		for _, q := range requests {
			if q.User == account(r.account) && (r.refused(q) || r.refusedForOwner(q)) {
				return nil
			}
		}
		return fmt.Errorf("not among %d requests", len(requests))
	})
}

// take takes a right away, lets the program need it, and returns what waits until it was refused and
// gives it back.
func (c *chartRights) take(g grant, need func()) func() {
	c.Helper()
	_, from, err := c.Cluster.Requests(0)
	c.Must(err)
	c.Must(g.set(true))
	c.waitAllowed(g.right, false)
	need()
	return func() {
		c.Helper()
		c.waitRefused(g.right, from)
		c.Must(g.set(false))
		c.waitAllowed(g.right, true)
	}
}

// The order in which rights are taken: each stage needs what the ones before gave back.
const (
	schedulerStarts = iota
	slow            // asked for after a minute only: waited for later
	schedulerWorks
	webhookStarts
	webhookWorks
	withoutValidation
	drainRegistrations // after which there is no webhook
	drainPods
)

func stage(r right) int {
	starts := r.verb == "list" || r.verb == "watch" || r.what == "leases" && r.verb == "get"
	switch {
	case r.account == "drain" && r.what == "pods":
		return drainPods
	case r.account == "drain":
		return drainRegistrations
	case r.account == "webhook" && starts:
		return webhookStarts
	case r.account == "webhook":
		return webhookWorks
	case starts:
		return schedulerStarts
	case r.verb == "patch" && r.what == "events":
		return slow
	case r.verb == "create" && r.what == "queues":
		return withoutValidation
	}
	return schedulerWorks
}

// Each right that the chart gives is needed: without it a request that the program really makes is
// refused. That none is missing is seen at the end of every scenario.
//
// The rights are taken away one by one, from the roles, with the daemons running; then something is
// done that makes the program ask (a restart, a pod, an edited Secret), and the API server's
// audit log has to show that it asked for just this and was refused. That needs no scenario played
// to its end for each right, and says more than its failing would: which request it was. A right
// without an entry here fails the test, so that none is added without one.
func TestChartRights(t *testing.T) {
	// Without the plugin the right to block an owner's deletion is not checked; without the feature no
	// PodGroup of Kubernetes is watched.
	s := suite.StartOwn(t, suite.Options{APIServerArgs: append([]string{
		"--enable-admission-plugins=OwnerReferencesPermissionEnforcement"}, kubePodGroups...), Values: []string{
		"scheduler.replicas=1", "webhook.replicas=1", "quota.enabled=true",
		"quota.config=fairSharing: {}\nintegrations:\n  frameworks:\n  - batch/job\n  - pod\n",
		// Refused renewals must not cost the lead.
		"scheduler.leaderElection.leaseDuration=10m", "scheduler.leaderElection.renewDeadline=5m",
		"scheduler.leaderElection.retryPeriod=1s"}})
	s.ExpectRefusals()
	c := &chartRights{S: s}
	c.prepare()
	found := c.granted()
	slices.SortStableFunc(found, func(a, b grant) int { return cmp.Compare(stage(a.right), stage(b.right)) })
	counts := map[string]int{}
	var late []func()
	for i, g := range found {
		now := stage(g.right)
		if i > 0 && stage(found[i-1].right) != now {
			if now == drainRegistrations {
				for _, wait := range late {
					wait()
				}
			}
			c.enter(now)
		}
		need := c.need(g.right)
		if need == nil {
			t.Errorf("nothing is known that needs %s", g.right)
			continue
		}
		wait := c.take(g, need)
		if now == slow {
			late = append(late, wait)
		} else {
			wait()
		}
		counts[g.account]++
	}
	for _, account := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%s: %d rights, each needed", account, counts[account])
	}
	if _, err := s.Headgate.RunPod(s.Ctx, c.drain); err != nil {
		t.Errorf("the drain with all its rights: %v", err)
	}
	s.WaitGated()
}
