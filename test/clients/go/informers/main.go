// Command informers follows config maps with client-go's informers in protobuf, through restarts of the server. It reads one
// command per line and answers each with one line:
//
//	create N M   creates config maps N up to M, 20 at a time
//	await N      waits until the informer and its handler have that many objects for a while, and prints how many were added,
//	             updated and deleted in total
//	touch N      updates one, with retries after conflicts
//	delete N     deletes one
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"os"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/retry"
)

const namespace = "default"

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must(err)
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.QPS = -1
	client := kubernetes.NewForConfigOrDie(config)
	maps := client.CoreV1().ConfigMaps(namespace)
	ctx := context.Background()

	var added, updated, deleted atomic.Int64
	informer := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace)).Core().V1().ConfigMaps().Informer()
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { added.Add(1) },
		UpdateFunc: func(old, now any) {
			if old.(*corev1.ConfigMap).ResourceVersion != now.(*corev1.ConfigMap).ResourceVersion {
				updated.Add(1)
			}
		},
		DeleteFunc: func(any) { deleted.Add(1) },
	})
	must(err)
	go informer.Run(ctx.Done())

	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var command string
		var first, last int
		_, _ = fmt.Sscan(lines.Text(), &command, &first, &last)
		switch command {
		case "create":
			var group sync.WaitGroup
			turns := make(chan struct{}, 20)
			for i := first; i < last; i++ {
				group.Go(func() {
					turns <- struct{}{}
					defer func() { <-turns }()
					_, err := maps.Create(ctx, newMap(i), metav1.CreateOptions{})
					must(err)
				})
			}
			group.Wait()
			fmt.Println("created")
		case "await":
			// Handlers run after the store is updated, for a new list in any order: waits until no more events arrive.
			seen := func() [4]int {
				return [4]int{len(informer.GetStore().ListKeys()), int(added.Load()), int(updated.Load()), int(deleted.Load())}
			}
			deadline := time.Now().Add(time.Minute)
			for before := seen(); ; before = seen() {
				time.Sleep(time.Second)
				now := seen()
				if now == before && now[0] == first && now[1]-now[3] == first {
					break
				}
				if time.Now().After(deadline) {
					log.Fatalf("%d objects after a minute, not %d", now[0], first)
				}
			}
			fmt.Printf("%d added, %d updated, %d deleted\n", added.Load(), updated.Load(), deleted.Load())
		case "touch":
			must(retry.RetryOnConflict(retry.DefaultRetry, func() error {
				held, err := maps.Get(ctx, newMap(first).Name, metav1.GetOptions{})
				must(err)
				held.Data["touched"] = "yes"
				_, err = maps.Update(ctx, held, metav1.UpdateOptions{})
				return err
			}))
			fmt.Println("touched")
		case "delete":
			must(maps.Delete(ctx, newMap(first).Name, metav1.DeleteOptions{}))
			fmt.Println("deleted")
		default:
			log.Fatalf("unknown command %q", command)
		}
	}
}

func newMap(i int) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("map-%05d", i), Labels: map[string]string{"n": fmt.Sprint(i % 10)}},
		Data:       map[string]string{"a": fmt.Sprint(i)},
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
