package scenarios

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"headgate/e2e/headgate"
	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

var flavors = headgate.Workloads.GroupVersion().WithResource("resourceflavors")

// deleteObject that lives in no namespace; it may stay for a while.
func deleteObject(s *suite.S, resource schema.GroupVersionResource, name string) {
	s.Helper()
	s.Must(s.Cluster.Dynamic.Resource(resource).Delete(s.Ctx, name, metav1.DeleteOptions{}))
}

// stays: it is being deleted and its finalizer holds it.
func stays(s *suite.S, resource schema.GroupVersionResource, name string) {
	s.Helper()
	o, err := s.Cluster.Dynamic.Resource(resource).Get(s.Ctx, name, metav1.GetOptions{})
	s.Must(err)
	if o.GetDeletionTimestamp() == nil {
		s.Errorf("%s %s is not being deleted", resource.Resource, name)
	}
}

func waitGone(s *suite.S, resource schema.GroupVersionResource, name string) {
	s.Helper()
	s.Eventually(resource.Resource+" "+name+" is gone", func() error {
		_, err := s.Cluster.Dynamic.Resource(resource).Get(s.Ctx, name, metav1.GetOptions{})
		if err == nil {
			return errors.New("still there")
		}
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

// A queue and a flavor that are in use are deleted when they are not any more; until then the queue
// admits no Workload and running ones go on.
func TestQuotaDeletionOfWhatIsInUse(t *testing.T) {
	s := startTenants(t)
	queue, flavor := s.Namespace+"-green", s.Namespace+"-on-demand"
	s.Job("runs", "green", 2)
	s.WaitJobRuns("runs")
	deleteObject(s, headgate.ClusterQueues, queue)
	deleteObject(s, flavors, flavor)
	s.WaitCondition(headgate.ClusterQueues, queue, "Active", "False/Terminating")
	s.WaitCondition(headgate.LocalQueues, "green", "Active", "False/ClusterQueueIsInactive")
	s.Job("late", "green", 1)
	s.WaitWorkload("late", "QuotaReserved", "False/Suspended")
	stays(s, headgate.ClusterQueues, queue)
	stays(s, flavors, flavor)
	s.WaitJobRuns("runs")
	s.FinishJob("runs")
	s.WaitWorkload("runs", "Finished", "True/Succeeded")
	waitGone(s, headgate.ClusterQueues, queue)
	waitGone(s, flavors, flavor)
	s.WaitCondition(headgate.LocalQueues, "green", "Active", "False/ClusterQueueDoesNotExist")
	// Somebody makes them again.
	s.Apply(tenants)
	s.WaitCondition(headgate.LocalQueues, "green", "Active", "True/Ready")
	s.WaitJobRuns("late")
}

// stop sets the stopPolicy of a queue.
func stop(s *suite.S, kind, name, policy string) {
	s.Helper()
	_, err := s.Headgate.Kubectl(s.Ctx, "", "patch", kind, name, "-n", s.Namespace, "--type=merge",
		"-p", fmt.Sprintf(`{"spec":{"stopPolicy":%q}}`, policy))
	s.Must(err)
}

// Hold lets those go on that run, HoldAndDrain stops them; afterwards all come back.
func TestQuotaStopPolicy(t *testing.T) {
	s := startTenants(t)
	queue := s.Namespace + "-green"
	s.Job("runs", "green", 2)
	s.WaitJobRuns("runs")
	stop(s, "clusterqueue", queue, "Hold")
	s.WaitCondition(headgate.ClusterQueues, queue, "Active", "False/Stopped")
	s.Job("waits", "green", 1)
	s.WaitWorkload("waits", "QuotaReserved", "False/Suspended")
	stop(s, "clusterqueue", queue, "HoldAndDrain")
	s.WaitWorkload("runs", "Evicted", "True/ClusterQueueStopped")
	s.WaitJobStopped("runs")
	stop(s, "clusterqueue", queue, "None")
	s.WaitCondition(headgate.ClusterQueues, queue, "Active", "True/Ready")
	s.WaitJobRuns("runs")
	s.WaitJobRuns("waits")
	stop(s, "localqueue", "green", "HoldAndDrain")
	s.WaitCondition(headgate.LocalQueues, "green", "Active", "False/Stopped")
	s.WaitWorkload("runs", "Evicted", "True/LocalQueueStopped")
	s.WaitJobStopped("runs")
	s.WaitJobStopped("waits")
	stop(s, "localqueue", "green", "None")
	s.WaitJobRuns("runs")
	s.WaitJobRuns("waits")
	if n := s.Times("runs", oracle.Started); n != 3 {
		t.Errorf("a Job that was stopped twice was started %d times", n)
	}
}

// Queues may come in any order: a Job waits for its LocalQueue, and that for its ClusterQueue.
func TestQuotaQueuesThatAreNotThere(t *testing.T) {
	s := suite.StartQuota(t)
	s.Nodes(1, "4", "8Gi")
	s.Job("early", "later", 1)
	s.WaitWorkload("early", "QuotaReserved", "False/Misconfigured")
	s.Apply(`
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: later}, spec: {clusterQueue: $NS-later}}
`)
	s.WaitCondition(headgate.LocalQueues, "later", "Active", "False/ClusterQueueDoesNotExist")
	s.Apply(`
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: $NS-later},
 spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: $NS-later,
 resources: [{name: cpu, nominalQuota: 4}]}]}]}}
`)
	s.WaitCondition(headgate.ClusterQueues, s.Namespace+"-later", "Active", "False/FlavorNotFound")
	s.WaitCondition(headgate.LocalQueues, "later", "Active", "False/ClusterQueueIsInactive")
	s.Apply(`
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: $NS-later}}
`)
	s.WaitCondition(headgate.ClusterQueues, s.Namespace+"-later", "Active", "True/Ready")
	s.WaitJobRuns("early")
	// A flavor without spec can be changed, and goes when no queue needs it.
	_, err := s.Headgate.Kubectl(s.Ctx, "", "label", "resourceflavor", s.Namespace+"-later", "a=b")
	s.Must(err)
	s.FinishJob("early")
	s.WaitWorkload("early", "Finished", "True/Succeeded")
	deleteObject(s, headgate.ClusterQueues, s.Namespace+"-later")
	waitGone(s, headgate.ClusterQueues, s.Namespace+"-later")
	deleteObject(s, flavors, s.Namespace+"-later")
	waitGone(s, flavors, s.Namespace+"-later")
}
