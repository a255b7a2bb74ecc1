import type { KubeObject } from '#apimachinery/meta/types';
import { exceptionGroup, type ExceptionKind, exceptionKinds } from './exception-group.ts';

/** Columns of `kubectl get`, as the API of the server has them. */
const columns = [
  { name: 'Plugins', type: 'string', jsonPath: '.spec.plugins' },
  { name: 'Reason', type: 'string', jsonPath: '.spec.reason' },
  { name: 'Expires', type: 'string', jsonPath: '.spec.expires' },
  { name: 'Uses', type: 'integer', jsonPath: '.status.uses' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
];

/** Returns the CustomResourceDefinitions of exceptions, for clusters that run another API server. */
export function exceptionDefinitions(): KubeObject[] {
  return exceptionKinds.map(definition);
}

function definition({ kind, resource, namespaced, schema }: ExceptionKind): KubeObject {
  const { group, version } = exceptionGroup;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${resource}.${group}` },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: { kind, listKind: `${kind}List`, plural: resource, singular: kind.toLowerCase() },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: columns,
          schema: { openAPIV3Schema: schema },
        },
      ],
    },
  } as KubeObject;
}
