// An operator with kubebuilder's structure, and its client: prints each completed step, and exits with 1 at the first
// failure.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

var widgetV1 = schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Widget"}
var widgetV2 = schema.GroupVersionKind{Group: group, Version: "v2", Kind: "Widget"}
var gadget = schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Gadget"}

func main() {
	logf.SetLogger(zap.New())
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func done(step string) { fmt.Println(step) }

func run(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensions.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	mapper := manager.GetRESTMapper()
	if _, err := mapper.RESTMapping(widgetV1.GroupKind(), "v1"); !meta.IsNoMatchError(err) {
		return fmt.Errorf("a kind that is not defined is mapped: %v", err)
	}
	done("a kind that is not defined has no mapping")

	direct, err := client.New(config, client.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		return err
	}
	webhook, authority, err := conversionServer()
	if err != nil {
		return err
	}
	defer webhook.Close()
	if err := define(ctx, direct, mapper, widgets(webhook.URL, authority), widgetV1); err != nil {
		return err
	}
	done("a kind is mapped once it is defined")

	if err := ctrl.NewControllerManagedBy(manager).For(object(widgetV1, "")).Complete(&reconciler{manager.GetClient()}); err != nil {
		return err
	}
	managed, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(managed) }()
	if err := use(ctx, direct); err != nil {
		return err
	}
	if err := inform(ctx, direct, dynamic.NewForConfigOrDie(config)); err != nil {
		return err
	}
	if err := define(ctx, direct, mapper, definition("gadgets", "Gadget", version("v1", "size", true)), gadget); err != nil {
		return err
	}
	if err := direct.Create(ctx, sized(object(gadget, "one"), "size", 1)); err != nil {
		return err
	}
	done("a kind that came later is mapped and used by the same client")
	stop()
	return <-ended
}

// define creates a definition and waits until its kind is mapped.
func define(ctx context.Context, c client.Client, mapper meta.RESTMapper, crd *apiextensions.CustomResourceDefinition, kind schema.GroupVersionKind) error {
	if err := c.Create(ctx, crd); err != nil {
		return err
	}
	if err := eventually(ctx, func() (bool, error) {
		if err := c.Get(ctx, client.ObjectKeyFromObject(crd), crd); err != nil {
			return false, err
		}
		for _, condition := range crd.Status.Conditions {
			if condition.Type == apiextensions.Established && condition.Status == apiextensions.ConditionTrue {
				return true, nil
			}
		}
		return false, nil
	}); err != nil {
		return fmt.Errorf("%s is not established: %w", crd.Name, err)
	}
	_, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	return err
}

// use creates an object, reads it in both versions, and deletes it, while the controller reconciles it.
func use(ctx context.Context, c client.Client) error {
	if err := c.Create(ctx, sized(object(widgetV1, "one"), "size", 3)); err != nil {
		return err
	}
	one := object(widgetV2, "one")
	if err := eventually(ctx, func() (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(one), one)
		observed, _, _ := unstructured.NestedInt64(one.Object, "status", "observed")
		return observed == 3 && len(one.GetFinalizers()) == 1, err
	}); err != nil {
		return fmt.Errorf("the controller has not seen the object: %w", err)
	}
	done("the controller added its finalizer and the status")
	if width, _, _ := unstructured.NestedInt64(one.Object, "spec", "width"); width != 3 {
		return fmt.Errorf("the other version is %v", one.Object)
	}
	if err := c.Update(ctx, sized(one, "width", 5)); err != nil {
		return err
	}
	if err := eventually(ctx, func() (bool, error) {
		first := object(widgetV1, "one")
		err := c.Get(ctx, client.ObjectKeyFromObject(first), first)
		size, _, _ := unstructured.NestedInt64(first.Object, "spec", "size")
		observed, _, _ := unstructured.NestedInt64(first.Object, "status", "observed")
		return size == 5 && observed == 5 && first.GetGeneration() == 2, err
	}); err != nil {
		return fmt.Errorf("a change of one version is not one of the other: %w", err)
	}
	done("the webhook converts what is read and written in the other version")
	if err := c.Delete(ctx, one); err != nil {
		return err
	}
	if err := eventually(ctx, func() (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(one), one)
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	}); err != nil {
		return fmt.Errorf("the object does not go: %w", err)
	}
	done("the object goes when the controller has removed its finalizer")
	return nil
}

// inform follows objects of the converted version by a dynamic informer.
func inform(ctx context.Context, c client.Client, dynamicClient dynamic.Interface) error {
	factory := dynamicinformer.NewDynamicSharedInformerFactory(dynamicClient, 0)
	informer := factory.ForResource(schema.GroupVersionResource{Group: group, Version: "v2", Resource: "widgets"}).Informer()
	widths := make(chan int64, 16)
	note := func(value any) {
		width, _, _ := unstructured.NestedInt64(value.(*unstructured.Unstructured).Object, "spec", "width")
		widths <- width
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: note, UpdateFunc: func(_, value any) { note(value) }}
	if _, err := informer.AddEventHandler(handler); err != nil {
		return err
	}
	following, stop := context.WithCancel(ctx)
	defer stop()
	factory.Start(following.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return fmt.Errorf("the informer does not get its list")
	}
	if err := c.Create(ctx, sized(object(widgetV1, "two"), "size", 7)); err != nil {
		return err
	}
	select {
	case width := <-widths:
		if width != 7 {
			return fmt.Errorf("the informer has seen %d", width)
		}
	case <-time.After(30 * time.Second):
		return fmt.Errorf("the informer sees nothing")
	}
	done("a dynamic informer follows the converted version")
	return nil
}

func object(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	value := &unstructured.Unstructured{}
	value.SetGroupVersionKind(kind)
	value.SetNamespace("default")
	value.SetName(name)
	return value
}

func sized(value *unstructured.Unstructured, field string, size int64) *unstructured.Unstructured {
	if err := unstructured.SetNestedField(value.Object, size, "spec", field); err != nil {
		panic(err)
	}
	return value
}

func eventually(ctx context.Context, condition func() (bool, error)) error {
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		return condition()
	})
}
