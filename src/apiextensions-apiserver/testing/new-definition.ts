import type { CustomResourceDefinition } from '#apiextensions-apiserver/schema/apiextensions_v1.gen';

interface DefinitionParts {
  readonly kind: string;
  /** Default: example.com. */
  readonly group?: string;
  /** Default: the kind in lower case, with an s. */
  readonly plural?: string;
  /** Default: Namespaced. */
  readonly scope?: 'Namespaced' | 'Cluster';
  /** Names of the versions, which are all served; the first is stored. Default: v1. */
  readonly versions?: readonly string[];
  /** The schema of all versions. Default: any fields. */
  readonly schema?: object;
  /** Further members of all versions. */
  readonly more?: object;
  readonly annotations?: Readonly<Record<string, string>>;
}

const anyFields = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** Returns a CustomResourceDefinition for tests. */
export function newDefinition(parts: DefinitionParts): CustomResourceDefinition {
  const {
    kind,
    group = 'example.com',
    plural = `${kind.toLowerCase()}s`,
    versions = ['v1'],
    schema = anyFields,
    more,
    annotations,
  } = parts;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, ...(annotations && { annotations: { ...annotations } }) },
    spec: {
      group,
      scope: parts.scope ?? 'Namespaced',
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: versions.map((name, i) => ({ name, served: true, storage: i === 0, schema: { openAPIV3Schema: schema }, ...more })),
    },
  };
}
