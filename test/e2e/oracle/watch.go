package oracle

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

// watches of one kind of objects in several clusters.
type watches struct {
	kind    schema.GroupVersionResource
	clients map[string]dynamic.Interface // by the name of a cluster
	see     func(ctx context.Context, cluster string, o *unstructured.Unstructured, gone bool)

	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup

	lock sync.Mutex
	ends map[string]context.CancelFunc // of the watch of each cluster
}

// start begins to watch and returns when it has seen what is there.
func (w *watches) start(ctx context.Context) {
	w.ctx, w.stop = context.WithCancel(ctx)
	w.ends = map[string]context.CancelFunc{}
	var wait []func()
	for name := range w.clients {
		wait = append(wait, w.watch(name))
	}
	for _, f := range wait {
		f()
	}
}

// unwatch ends the watch of a cluster.
func (w *watches) unwatch(name string) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.ends[name]()
}

// watch begins to watch a cluster; wait returns when it has seen what is there.
func (w *watches) watch(name string) (wait func()) {
	ctx, cancel := context.WithCancel(w.ctx)
	w.lock.Lock()
	w.ends[name] = cancel
	w.lock.Unlock()
	i := dynamicinformer.NewDynamicSharedInformerFactory(w.clients[name], 0)
	see := func(o any, gone bool) {
		if ctx.Err() == nil {
			w.see(ctx, name, o.(*unstructured.Unstructured), gone)
		}
	}
	_, _ = i.ForResource(w.kind).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { see(o, false) },
		UpdateFunc: func(_, o any) { see(o, false) },
		DeleteFunc: func(o any) {
			if last, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = last.Obj
			}
			see(o, true)
		},
	})
	i.Start(ctx.Done())
	w.wg.Go(func() {
		<-ctx.Done()
		i.Shutdown()
	})
	return func() { i.WaitForCacheSync(ctx.Done()) }
}

// Stop ends watching.
func (w *watches) Stop() {
	w.stop()
	w.wg.Wait()
}
