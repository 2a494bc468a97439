package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"headgate/e2e/cluster"
	"headgate/e2e/headgate"
)

// Expand puts the scenario's namespace in place of $NS, with which names of what lives in no
// namespace have to begin.
func (s *S) Expand(text string) string {
	return strings.ReplaceAll(text, "$NS", s.Namespace)
}

// Apply applies manifests as a user does, after Expand; ClusterQueues, Cohorts and the like are gone
// at the end.
func (s *S) Apply(manifests string) {
	s.Helper()
	text := s.Expand(manifests)
	s.Owns(text)
	_, err := s.Headgate.Kubectl(s.Ctx, text, "apply", "--server-side", "-n", s.Namespace, "-f", "-")
	s.Must(err)
}

// Owns lets what Apply would have made be gone at the end, too.
func (s *S) Owns(manifests string) {
	s.Helper()
	objects, err := headgate.Decode(manifests)
	s.Must(err)
	s.manifests = append(s.manifests, objects...)
}

// JobOption changes a Job before it is created.
type JobOption func(*batchv1.Job)

// Class is the Job's WorkloadPriorityClass.
func Class(name string) JobOption {
	return func(j *batchv1.Job) { j.Labels["kueue.x-k8s.io/priority-class"] = name }
}

// Takes lets the pods of a Job succeed after that time; without it they run until they are stopped.
func Takes(d time.Duration) JobOption {
	return func(j *batchv1.Job) {
		j.Spec.Template.Annotations = map[string]string{cluster.CompleteAfter: d.String()}
	}
}

// PodCPU is what each pod asks for; 1 without it.
func PodCPU(cpu string) JobOption {
	return func(j *batchv1.Job) {
		j.Spec.Template.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse(cpu)
	}
}

// Job creates a Job of a LocalQueue ("": of none) with pods that all run at once, and returns it as the
// API server answered.
func (s *S) Job(name, queue string, pods int, options ...JobOption) *batchv1.Job {
	s.Helper()
	var made *batchv1.Job
	s.Must(s.send(func() (err error) {
		made, err = s.Cluster.Client.BatchV1().Jobs(s.Namespace).Create(s.Ctx,
			s.JobSpec(name, queue, pods, options...), metav1.CreateOptions{})
		return err
	}))
	return made
}

// JobSpec is that Job, which is not created.
func (s *S) JobSpec(name, queue string, pods int, options ...JobOption) *batchv1.Job {
	return newJob(s.Namespace, name, queue, pods, options...)
}

func newJob(namespace, name, queue string, pods int, options ...JobOption) *batchv1.Job {
	n := int32(pods)
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{}},
		Spec: batchv1.JobSpec{Parallelism: &n, Completions: &n, Template: corev1.PodTemplateSpec{
			Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{
				Name: "main", Image: "registry.k8s.io/pause:3.10", Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}}}}}},
	}
	if queue != "" {
		j.Labels[headgate.QueueLabel] = queue
	}
	for _, o := range options {
		o(j)
	}
	return j
}

// GetJob reads a Job.
func (s *S) GetJob(name string) *batchv1.Job {
	s.Helper()
	j, err := s.Cluster.Client.BatchV1().Jobs(s.Namespace).Get(s.Ctx, name, metav1.GetOptions{})
	s.Must(err)
	return j
}

// JobPods are the pods of a Job that exist.
func (s *S) JobPods(job string) []corev1.Pod {
	s.Helper()
	list, err := s.Cluster.Client.CoreV1().Pods(s.Namespace).List(s.Ctx,
		metav1.ListOptions{LabelSelector: "batch.kubernetes.io/job-name=" + job})
	s.Must(err)
	return list.Items
}

// FinishJob lets the pods of a Job succeed that run now, one by one: what each had is free for others
// before the Job has ended.
func (s *S) FinishJob(name string) {
	s.Helper()
	_, err := s.Headgate.Kubectl(s.Ctx, "", "annotate", "pods", "-n", s.Namespace, "--overwrite",
		"-l", "batch.kubernetes.io/job-name="+name, cluster.CompleteAfter+"=0s")
	s.Must(err)
}

// WorkloadOf is the Workload that a Job controls.
func (s *S) WorkloadOf(job string) (*unstructured.Unstructured, error) {
	list, err := s.Cluster.Dynamic.Resource(headgate.Workloads).Namespace(s.Namespace).List(s.Ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		owner := metav1.GetControllerOf(&list.Items[i])
		if owner != nil && owner.Kind == "Job" && owner.Name == job {
			return &list.Items[i], nil
		}
	}
	return nil, fmt.Errorf("Job %s has no Workload", job)
}

// Condition of an object as "Status/Reason"; "" if it has none of that type.
func Condition(o *unstructured.Unstructured, kind string) string {
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range list {
		if m, ok := c.(map[string]any); ok && m["type"] == kind {
			return fmt.Sprintf("%s/%s", m["status"], m["reason"])
		}
	}
	return ""
}

// WaitWorkload waits until a condition of the Job's Workload is "Status/Reason".
func (s *S) WaitWorkload(job, kind, want string) {
	s.Helper()
	s.Eventually(fmt.Sprintf("the Workload of %s has %s=%s", job, kind, want), func() error {
		w, err := s.WorkloadOf(job)
		if err == nil && Condition(w, kind) != want {
			err = fmt.Errorf("now %q", Condition(w, kind))
		}
		return err
	})
}

// WaitCondition waits until a condition of an object that lives in no namespace, or in the
// scenario's, is "Status/Reason".
func (s *S) WaitCondition(resource schema.GroupVersionResource, name, kind, want string) {
	s.Helper()
	s.Eventually(fmt.Sprintf("%s %s has %s=%s", resource.Resource, name, kind, want), func() error {
		client := s.Cluster.Dynamic.Resource(resource)
		o, err := client.Get(s.Ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			o, err = client.Namespace(s.Namespace).Get(s.Ctx, name, metav1.GetOptions{})
		}
		if err == nil && Condition(o, kind) != want {
			err = fmt.Errorf("now %q", Condition(o, kind))
		}
		return err
	})
}

// WaitJobRuns waits until all pods of the Job run.
func (s *S) WaitJobRuns(job string) {
	s.Helper()
	s.Eventually("the pods of Job "+job+" run", func() error {
		running, want := 0, int(*s.GetJob(job).Spec.Parallelism)
		for _, p := range s.JobPods(job) {
			if p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
				running++
			}
		}
		if running != want {
			return fmt.Errorf("%d of %d", running, want)
		}
		return nil
	})
}

// WaitJobStopped waits until the Job is suspended and none of its pods is left.
func (s *S) WaitJobStopped(job string) {
	s.Helper()
	s.Eventually("Job "+job+" is suspended and its pods are gone", func() error {
		if j, left := s.GetJob(job), s.JobPods(job); !*j.Spec.Suspend || len(left) > 0 {
			return fmt.Errorf("suspend is %v, %d pods", *j.Spec.Suspend, len(left))
		}
		return nil
	})
}

// Happened is the nth moment, from 1, in which that happened to a Job or its Workload (see package
// oracle); it waits for it.
func (s *S) Happened(job, what string, nth int) Moment {
	s.Helper()
	m := Moment{what: fmt.Sprintf("%s %s (%d)", job, what, nth)}
	s.Eventually(m.what, func() error {
		times := s.times(job, what)
		if len(times) < nth {
			return fmt.Errorf("happened %d times", len(times))
		}
		m.rv = times[nth-1]
		return nil
	})
	return m
}

// Times is how often that has happened so far, as the oracle has judged it.
func (s *S) Times(job, what string) int {
	s.Helper()
	s.Must(s.Oracle.Verify(s.Ctx))
	return len(s.times(job, what))
}

func (s *S) times(job, what string) []int64 {
	var times []int64
	for _, h := range s.Oracle.Moments(s.Namespace + "/" + job) {
		if h.What == what {
			times = append(times, h.RV)
		}
	}
	return times
}

type quotaKind struct{ kind, resource string }

// quotaKinds in the order in which they are removed: what uses before what is used.
var quotaKinds = []quotaKind{
	{"ClusterQueue", "clusterqueues"}, {"Cohort", "cohorts"}, {"AdmissionCheck", "admissionchecks"},
	{"ResourceFlavor", "resourceflavors"}, {"WorkloadPriorityClass", "workloadpriorityclasses"},
}

// cleanUpQuota removes what Apply made outside of the namespace, once nothing uses it.
func (s *S) cleanUpQuota(ctx context.Context) {
	if !s.installation.quota {
		return
	}
	now, all := metav1.DeletePropagationBackground, metav1.ListOptions{}
	err := cluster.Poll(ctx, "jobs and workloads are gone", func(ctx context.Context) error {
		jobs := s.Cluster.Client.BatchV1().Jobs(s.Namespace)
		if err := jobs.DeleteCollection(ctx, metav1.DeleteOptions{PropagationPolicy: &now}, all); err != nil {
			return err
		}
		left, err := s.Cluster.Dynamic.Resource(headgate.Workloads).Namespace(s.Namespace).List(ctx, all)
		if err == nil && len(left.Items) > 0 {
			err = fmt.Errorf("%d workloads, %s first", len(left.Items), left.Items[0].GetName())
		}
		return err
	})
	if err != nil {
		s.Errorf("cleaning up: %v", err)
	}
	for _, k := range quotaKinds {
		client := s.Cluster.Dynamic.Resource(headgate.Workloads.GroupVersion().WithResource(k.resource))
		for _, o := range s.manifests {
			if o.GetKind() != k.kind {
				continue
			}
			if err := client.Delete(ctx, o.GetName(), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
				s.Errorf("cleaning up: %v", err)
			}
		}
	}
	if !s.own {
		s.waitQuotaGone(ctx)
	}
}

// waitQuotaGone: removals of finalizers call webhooks, and the next scenario may count such calls.
func (s *S) waitQuotaGone(ctx context.Context) {
	for _, o := range s.manifests {
		at := slices.IndexFunc(quotaKinds, func(k quotaKind) bool { return k.kind == o.GetKind() })
		if at < 0 {
			continue
		}
		client := s.Cluster.Dynamic.Resource(headgate.Workloads.GroupVersion().WithResource(quotaKinds[at].resource))
		err := cluster.Poll(ctx, o.GetKind()+" "+o.GetName()+" is gone", func(ctx context.Context) error {
			_, err := client.Get(ctx, o.GetName(), metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return errors.Join(errors.New("it is there"), err)
		})
		if err != nil {
			s.Errorf("cleaning up: %v", err)
		}
	}
}
