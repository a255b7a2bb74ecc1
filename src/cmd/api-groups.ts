import { apiExtensionsGroup } from '#apiextensions-apiserver/apis/apiextensions/group';
import { schema as apiextensionsSchema } from '#apiextensions-apiserver/schema/schema';
import { SchemeBuilder } from '#apiserver/registry/scheme-builder';
import { apiRegistrationGroup } from '#kube-aggregator/apis/apiregistration/group';
import { schema as aggregatorSchema } from '#kube-aggregator/schema/schema';
import { groups } from '#kubernetes/apis/groups';
import { schema } from '#kubernetes/schema/schema';

/** The groups that are built in, by the server that they belong to. */
export function apiGroups(): Readonly<Record<'kubernetes' | 'apiextensions' | 'aggregator', SchemeBuilder>> {
  return {
    kubernetes: new SchemeBuilder(schema, ...groups),
    apiextensions: new SchemeBuilder(apiextensionsSchema, apiExtensionsGroup),
    aggregator: new SchemeBuilder(aggregatorSchema, apiRegistrationGroup),
  };
}
