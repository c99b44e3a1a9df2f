package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
)

// changeTime is from one change to the next: 20 a second.
const changeTime = 50 * time.Millisecond

// churn has objects of the crowd go and others come, so that there are as many at any time.
type churn struct {
	kinds []comer
	// changes are those so far.
	changes int
}

// comer is a kind of which the oldest goes when another has come.
type comer struct {
	what string
	// oldest is the number of the one that goes next, next that of the one that comes.
	oldest, next   int
	create, remove func(ctx context.Context, i int) error
}

func (b *bench) comeAndGo() (*churn, error) {
	config := b.cluster.AdminConfig()
	config.ContentType = runtime.ContentTypeProtobuf
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	volumes, nodes, classes := client.CoreV1().PersistentVolumes(), client.CoreV1().Nodes(), client.StorageV1().StorageClasses()
	return &churn{kinds: []comer{
		{what: "PersistentVolumes", next: crowdVolumes, create: func(ctx context.Context, i int) error {
			_, err := volumes.Create(ctx, crowdVolume(i), metav1.CreateOptions{})
			return err
		}, remove: func(ctx context.Context, i int) error {
			return volumes.Delete(ctx, crowdVolume(i).Name, metav1.DeleteOptions{})
		}},
		{what: "Nodes", next: crowdNodes, create: func(ctx context.Context, i int) error {
			_, err := nodes.Create(ctx, crowdNode(i), metav1.CreateOptions{})
			return err
		}, remove: func(ctx context.Context, i int) error {
			return nodes.Delete(ctx, crowdNode(i).Name, metav1.DeleteOptions{})
		}},
		{what: "StorageClasses", next: crowdClasses, create: func(ctx context.Context, i int) error {
			_, err := classes.Create(ctx, crowdClass(i), metav1.CreateOptions{})
			return err
		}, remove: func(ctx context.Context, i int) error {
			return classes.Delete(ctx, crowdClass(i).Name, metav1.DeleteOptions{})
		}},
	}}, nil
}

// run returns when ctx ends, with nothing, or what could not be done.
func (c *churn) run(ctx context.Context) error {
	ticker := time.NewTicker(changeTime)
	defer ticker.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		k := &c.kinds[i/2%len(c.kinds)]
		verb, err := "creating", error(nil)
		if i%2 == 0 {
			err = k.create(ctx, k.next)
			k.next++
		} else {
			verb, err = "deleting", k.remove(ctx, k.oldest)
			k.oldest++
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", verb, k.what, err)
		}
		c.changes++
	}
}
