// Package headgate installs the chart into a cluster and runs its daemons as processes.
//
// Helm renders the chart (--dry-run=server), kubectl applies everything but the Deployments and
// hooks, and each Deployment becomes as many processes as it has replicas: with the rendered
// arguments, its ConfigMaps and Secrets as files, and a token of its ServiceAccount, so that flags
// and rights are the chart's. What is added to the arguments are a kubeconfig and addresses on
// loopback. A TCP front plays the Service of the webhook: its address is the chart's webhook.url,
// and connections go to replicas that are ready.
//
//	h, err := headgate.Install(ctx, c, headgate.Options{Repo: repo, Values: []string{"scheduler.replicas=1"}})
//	h.Schedulers[0].Kill(); err = h.Schedulers[0].Start(ctx)
//	h.Webhooks[0].Terminate(time.Minute)      // out of the front first, as on a real rollout
//	out, err := h.Ctl(ctx, "explain", "pod", "default/a")
package headgate
