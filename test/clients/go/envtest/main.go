// Runs several test environments of controller-runtime concurrently on the binaries of KUBEBUILDER_ASSETS. Prints a line for each.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

const environments = 3

func main() {
	log.SetLogger(zap.New())
	results := make([]string, environments)
	var all sync.WaitGroup
	for i := range environments {
		all.Go(func() {
			result, err := run(fmt.Sprintf("env%d", i))
			if err != nil {
				result = fmt.Sprintf("failed: %v", err)
			}
			results[i] = result
		})
	}
	all.Wait()
	fmt.Println(strings.Join(results, "\n"))
}

func widgets() *apiextensionsv1.CustomResourceDefinition {
	schema := &apiextensionsv1.JSONSchemaProps{
		Type: "object",
		Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"spec": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"size": {Type: "integer"}}},
		},
	}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com",
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schema},
			}},
		},
	}
}

func run(name string) (result string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	environment := &envtest.Environment{CRDs: []*apiextensionsv1.CustomResourceDefinition{widgets()}}
	config, err := environment.Start()
	if err != nil {
		return "", fmt.Errorf("start: %w", err)
	}
	defer func() {
		began := time.Now()
		if stopErr := environment.Stop(); stopErr != nil && err == nil {
			err = fmt.Errorf("stop: %w", stopErr)
		}
		if took := time.Since(began); took > 10*time.Second && err == nil {
			err = fmt.Errorf("stop took %s", took)
		}
	}()
	steps := []func(context.Context, *rest.Config, *envtest.Environment, string) (string, error){createWidget, addUsers, startPod, askKubectl}
	said := []string{}
	for _, step := range steps {
		line, err := step(ctx, config, environment, name)
		if err != nil {
			return "", err
		}
		said = append(said, line)
	}
	return strings.Join(said, ", "), nil
}

// createWidget creates an object of the definition, which environments must not share.
func createWidget(ctx context.Context, config *rest.Config, _ *envtest.Environment, name string) (string, error) {
	c, err := client.New(config, client.Options{})
	if err != nil {
		return "", err
	}
	widget := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(3)}}}
	widget.SetAPIVersion("example.com/v1")
	widget.SetKind("Widget")
	widget.SetNamespace("default")
	widget.SetName(name)
	if err := c.Create(ctx, widget); err != nil {
		return "", err
	}
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("example.com/v1")
	list.SetKind("WidgetList")
	if err := c.List(ctx, list); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d widget", len(list.Items)), nil
}

func addUsers(ctx context.Context, _ *rest.Config, environment *envtest.Environment, _ string) (string, error) {
	says := []string{}
	for _, user := range []envtest.User{{Name: "jane", Groups: []string{"viewers"}}, {Name: "root", Groups: []string{"system:masters"}}} {
		added, err := environment.AddUser(user, nil)
		if err != nil {
			return "", err
		}
		c, err := client.New(added.Config(), client.Options{})
		if err != nil {
			return "", err
		}
		err = c.List(ctx, &corev1.ConfigMapList{})
		if err != nil && !apierrors.IsForbidden(err) {
			return "", err
		}
		says = append(says, fmt.Sprintf("%s forbidden %t", user.Name, err != nil))
	}
	return strings.Join(says, ", "), nil
}

// startPod requires no service account, because envtest disables the plugin.
func startPod(ctx context.Context, config *rest.Config, _ *envtest.Environment, _ string) (string, error) {
	c, err := client.New(config, client.Options{})
	if err != nil {
		return "", err
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec:       corev1.PodSpec{ServiceAccountName: "robot", Containers: []corev1.Container{{Name: "a", Image: "a"}}},
	}
	if err := c.Create(ctx, pod); err != nil {
		return "", err
	}
	return "a pod is " + string(pod.Status.Phase), nil
}

func askKubectl(_ context.Context, _ *rest.Config, environment *envtest.Environment, _ string) (string, error) {
	user, err := environment.AddUser(envtest.User{Name: "kubectl", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		return "", err
	}
	kubectl, err := user.Kubectl()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(kubectl.Path); err != nil {
		return "no kubectl", nil
	}
	stdout, stderr, err := kubectl.Run("get", "namespaces", "-o", "name")
	if err != nil {
		text := new(bytes.Buffer)
		_, _ = text.ReadFrom(stderr)
		return "", fmt.Errorf("kubectl: %w: %s", err, text)
	}
	text := new(bytes.Buffer)
	_, _ = text.ReadFrom(stdout)
	return fmt.Sprintf("kubectl %t", strings.Contains(text.String(), "namespace/default")), nil
}
