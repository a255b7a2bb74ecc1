import type { KubeObject } from '#apimachinery/meta/types';

type Json = Readonly<Record<string, unknown>>;

interface Column extends Json {
  readonly JSONPath?: string;
}

/** Fields that v1 has in each version, and v1beta1 has at the top if they are equal in all versions. */
interface VersionFields extends Json {
  readonly additionalPrinterColumns?: readonly Column[];
}

interface Spec extends VersionFields {
  readonly version?: string;
  readonly versions?: readonly VersionFields[];
  readonly validation?: Json;
  readonly subresources?: Json;
  readonly selectableFields?: readonly Json[];
  readonly preserveUnknownFields?: boolean;
  readonly conversion?: {
    readonly strategy?: string;
    readonly webhookClientConfig?: Json;
    readonly conversionReviewVersions?: readonly string[];
  };
}

/**
 * Converts a CustomResourceDefinition of v1beta1, the version that kube-apiserver stores, to v1. Upstream:
 * apiextensions-apiserver/pkg/apis/apiextensions/{v1,v1beta1}/conversion.go.
 */
export function definitionOfV1beta1(object: KubeObject): KubeObject {
  const { version, versions, validation, subresources, additionalPrinterColumns, selectableFields, preserveUnknownFields, ...rest } = (
    object as KubeObject & { readonly spec: Spec }
  ).spec;
  const shared = {
    ...(validation && { schema: validation }),
    ...(subresources && { subresources }),
    ...(additionalPrinterColumns && { additionalPrinterColumns }),
    ...(selectableFields && { selectableFields }),
  };
  const named = versions?.length ? versions : version ? [{ name: version, served: true, storage: true }] : [];
  return {
    ...object,
    apiVersion: 'apiextensions.k8s.io/v1',
    spec: {
      ...rest,
      versions: named.map((one) => withColumns({ ...one, ...shared })),
      conversion: conversionOf(rest.conversion),
      preserveUnknownFields: preserveUnknownFields ?? true,
    },
  } as KubeObject;
}

function withColumns(version: VersionFields): Json {
  const { additionalPrinterColumns: columns, ...rest } = version;
  if (!columns) return rest;
  return { ...rest, additionalPrinterColumns: columns.map(({ JSONPath, ...column }) => ({ ...column, jsonPath: JSONPath })) };
}

function conversionOf({ strategy, webhookClientConfig, conversionReviewVersions }: NonNullable<Spec['conversion']> = {}): Json {
  if (!webhookClientConfig && !conversionReviewVersions) return { strategy: strategy ?? 'None' };
  return { strategy, webhook: { clientConfig: webhookClientConfig, conversionReviewVersions: conversionReviewVersions ?? ['v1beta1'] } };
}
