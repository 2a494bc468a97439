// Package cluster runs a real Kubernetes control plane, etcd and kwok as child processes on loopback:
// certificates, kubeconfigs, ports that are free, logs in a folder of its own.
//
// Every process is a group of its own, ended by its id, and dies with the program that started it.
// Stop(true) keeps the folder, which is what a failed test wants; Stop(false) removes it.
//
//	c, err := cluster.Start(ctx, cluster.Options{Bin: bin, Dir: dir})
//	defer c.Stop(false)
//	err = c.AddNode(ctx, "node-1", cluster.Resources("2", "2Gi"), nil)
//	c.APIServer.Kill(); err = c.APIServer.Start(); err = c.WaitAPI(ctx)
package cluster
