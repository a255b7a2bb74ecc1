package main

import (
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const group = "operator.example.dev"

func integers(names ...string) apiextensions.JSONSchemaProps {
	properties := map[string]apiextensions.JSONSchemaProps{}
	for _, name := range names {
		properties[name] = apiextensions.JSONSchemaProps{Type: "integer"}
	}
	return apiextensions.JSONSchemaProps{Type: "object", Properties: properties}
}

func version(name, field string, storage bool) apiextensions.CustomResourceDefinitionVersion {
	return apiextensions.CustomResourceDefinitionVersion{
		Name: name, Served: true, Storage: storage,
		Subresources: &apiextensions.CustomResourceSubresources{Status: &apiextensions.CustomResourceSubresourceStatus{}},
		Schema: &apiextensions.CustomResourceValidation{OpenAPIV3Schema: &apiextensions.JSONSchemaProps{
			Type:       "object",
			Properties: map[string]apiextensions.JSONSchemaProps{"spec": integers(field), "status": integers("observed")},
		}},
	}
}

func definition(plural, kind string, versions ...apiextensions.CustomResourceDefinitionVersion) *apiextensions.CustomResourceDefinition {
	return &apiextensions.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group},
		Spec: apiextensions.CustomResourceDefinitionSpec{
			Group:    group,
			Scope:    apiextensions.NamespaceScoped,
			Names:    apiextensions.CustomResourceDefinitionNames{Plural: plural, Kind: kind},
			Versions: versions,
		},
	}
}

// widgets has two versions, converted by a webhook.
func widgets(url string, authority []byte) *apiextensions.CustomResourceDefinition {
	crd := definition("widgets", "Widget", version("v1", "size", true), version("v2", "width", false))
	crd.Spec.Conversion = &apiextensions.CustomResourceConversion{
		Strategy: apiextensions.WebhookConverter,
		Webhook: &apiextensions.WebhookConversion{
			ClientConfig:             &apiextensions.WebhookClientConfig{URL: &url, CABundle: authority},
			ConversionReviewVersions: []string{"v1"},
		},
	}
	return crd
}
