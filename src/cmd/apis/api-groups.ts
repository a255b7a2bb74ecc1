import { apiExtensionsGroup } from '#apiextensions-apiserver/apis/apiextensions/group';
import { schema as apiextensionsSchema } from '#apiextensions-apiserver/schema/schema';
import { SchemeBuilder } from '#apiserver/registry/scheme-builder';
import { apiRegistrationGroup } from '#kube-aggregator/apis/apiregistration/group';
import { schema as aggregatorSchema } from '#kube-aggregator/schema/schema';
import { groupsFor, groupsWithRemovedApis } from '#kubernetes/apis/removed-apis';
import { schema } from '#kubernetes/schema/schema';

/**
 * Returns the built-in groups by server. `admissionPlugins`: the enabled plugins, some of which require APIs that Kubernetes has removed;
 * undefined: all of these APIs.
 */
export function apiGroups(
  admissionPlugins?: readonly string[],
): Readonly<Record<'kubernetes' | 'apiextensions' | 'aggregator', SchemeBuilder>> {
  return {
    kubernetes: new SchemeBuilder(schema, ...(admissionPlugins ? groupsFor(admissionPlugins) : groupsWithRemovedApis)),
    apiextensions: new SchemeBuilder(apiextensionsSchema, apiExtensionsGroup),
    aggregator: new SchemeBuilder(aggregatorSchema, apiRegistrationGroup),
  };
}
