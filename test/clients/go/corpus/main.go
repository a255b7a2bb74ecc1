// Command corpus encodes objects with the codecs of Kubernetes. It reads kinds, one "apiVersion kind" per line, and writes
// for each known kind a line of JSON with the object in the server's JSON and protobuf (base64) encodings.
//
// Each kind has up to three forms: full, from the tests of k8s.io/api (in the folders named by -testdata); zero, in which
// every pointer, list and map is set to an empty value; and empty. Lists contain the items full, zero and empty.
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	imagepolicyv1alpha1 "k8s.io/api/imagepolicy/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

type record struct {
	Name     string `json:"name"`
	JSON     string `json:"json"`
	Protobuf string `json:"protobuf"`
}

var (
	types         = scheme.Scheme
	jsonCodec     = jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, types, types, jsonserializer.SerializerOptions{})
	protobufCodec = protobuf.NewSerializer(types, types)
	moment        = time.Date(2026, 11, 21, 10, 52, 13, 0, time.UTC)
)

func main() {
	testdata := flag.String("testdata", "", "folders with <group>.<version>.<kind>.json files, separated by colons")
	flag.Parse()
	for _, add := range []func(*runtime.Scheme) error{
		admissionv1.AddToScheme, admissionv1beta1.AddToScheme, imagepolicyv1alpha1.AddToScheme,
		apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme,
	} {
		must(add(types))
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		apiVersion, kind, _ := strings.Cut(lines.Text(), " ")
		known := schema.FromAPIVersionAndKind(apiVersion, kind)
		if !types.Recognizes(known) {
			continue
		}
		for _, form := range formsOf(known, strings.Split(*testdata, ":")) {
			must(out.Encode(form))
		}
	}
}

func formsOf(kind schema.GroupVersionKind, testdata []string) []record {
	var records []record
	add := func(form string, object runtime.Object) {
		if object != nil {
			object.GetObjectKind().SetGroupVersionKind(kind)
			records = append(records, encode(kind, form, object))
		}
	}
	if name, isList := strings.CutSuffix(kind.Kind, "List"); isList {
		list := create(kind)
		item := kind.GroupVersion().WithKind(name)
		var items []runtime.Object
		for _, object := range []runtime.Object{full(item, testdata), zero(item), create(item)} {
			if object != nil {
				object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
				items = append(items, object)
			}
		}
		must(meta.SetList(list, items))
		add("items", list)
		add("empty", create(kind))
		return records
	}
	add("full", full(kind, testdata))
	add("zero", zero(kind))
	add("empty", create(kind))
	return records
}

// encode encodes an object after a round trip through JSON, like a client's.
func encode(kind schema.GroupVersionKind, form string, object runtime.Object) record {
	var sent bytes.Buffer
	must(jsonCodec.Encode(object, &sent))
	read, _, err := jsonCodec.Decode(sent.Bytes(), nil, nil)
	must(err)
	var asJSON, asProtobuf bytes.Buffer
	must(jsonCodec.Encode(read, &asJSON))
	must(protobufCodec.Encode(read, &asProtobuf))
	return record{
		Name:     fmt.Sprintf("%s %s %s", kind.GroupVersion(), kind.Kind, form),
		JSON:     strings.TrimSuffix(asJSON.String(), "\n"),
		Protobuf: base64.StdEncoding.EncodeToString(asProtobuf.Bytes()),
	}
}

func create(kind schema.GroupVersionKind) runtime.Object {
	object, err := types.New(kind)
	must(err)
	return object
}

// full returns nil for kinds without a file.
func full(kind schema.GroupVersionKind, testdata []string) runtime.Object {
	group := kind.Group
	if group == "" {
		group = "core"
	}
	for _, folder := range testdata {
		content, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("%s.%s.%s.json", group, kind.Version, kind.Kind)))
		if os.IsNotExist(err) {
			continue
		}
		must(err)
		object, _, err := jsonCodec.Decode(content, nil, nil)
		must(err)
		return object
	}
	return nil
}

func zero(kind schema.GroupVersionKind) runtime.Object {
	object := create(kind)
	populate(reflect.ValueOf(object).Elem(), nil)
	return object
}

// populate sets all optional parts of a value. `above` lists the enclosing types, which are not nested in themselves.
func populate(value reflect.Value, above []reflect.Type) {
	switch value.Interface().(type) {
	case metav1.TypeMeta, resource.Quantity, intstr.IntOrString:
		return
	case metav1.Time, metav1.MicroTime:
		// A zero time is encoded as null, which counts as missing.
		value.Field(0).Set(reflect.ValueOf(moment))
		return
	case metav1.FieldsV1:
		value.Field(0).SetBytes([]byte("{}"))
		return
	case runtime.RawExtension:
		value.FieldByName("Raw").SetBytes([]byte("{}"))
		return
	case apiextensionsv1.JSON:
		value.Field(0).SetBytes([]byte("0"))
		return
	case apiextensionsv1.JSONSchemaPropsOrArray:
		value.FieldByName("Schema").Set(reflect.ValueOf(&apiextensionsv1.JSONSchemaProps{}))
		return
	}
	for _, outer := range above {
		if outer == value.Type() {
			return
		}
	}
	switch value.Kind() {
	case reflect.Struct:
		for i := range value.NumField() {
			populate(value.Field(i), append(above, value.Type()))
		}
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		populate(value.Elem(), above)
	case reflect.Slice:
		value.Set(reflect.MakeSlice(value.Type(), 1, 1))
		populate(value.Index(0), above)
	case reflect.Map:
		held := reflect.New(value.Type().Elem()).Elem()
		populate(held, above)
		value.Set(reflect.MakeMap(value.Type()))
		value.SetMapIndex(reflect.Zero(value.Type().Key()), held)
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
