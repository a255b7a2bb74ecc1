import type { KubeObject } from '#apimachinery/meta/types';
import { type ReportGroup, reportKinds } from './policy-report.ts';

const text = { type: 'string' };
const integer = { type: 'integer' };
const texts = { type: 'object', additionalProperties: text };
const results = ['pass', 'fail', 'warn', 'error', 'skip'];
const object = (properties: Readonly<Record<string, object>>, required: readonly string[] = []): object => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
});
const list = (items: object): object => ({ type: 'array', items });

const reference = object({
  apiVersion: text,
  kind: text,
  name: text,
  namespace: text,
  uid: text,
  resourceVersion: text,
  fieldPath: text,
});
const selector = object({
  matchLabels: texts,
  matchExpressions: list(object({ key: text, operator: text, values: list(text) }, ['key', 'operator'])),
});
const timestamp = object({ seconds: { type: 'integer', format: 'int64' }, nanos: { type: 'integer', format: 'int32' } }, [
  'seconds',
  'nanos',
]);
const summary = object(Object.fromEntries(results.map((result) => [result, integer])));

const resultSchema = (severities: readonly string[]): object =>
  object(
    {
      source: text,
      policy: text,
      rule: text,
      category: text,
      severity: { ...text, enum: severities },
      timestamp,
      result: { ...text, enum: results },
      scored: { type: 'boolean' },
      resources: list(reference),
      resourceSelector: selector,
      message: text,
      properties: texts,
    },
    ['policy'],
  );

/** Members that only one of the groups has. */
const ownMembers: Readonly<
  Record<ReportGroup, { readonly members: Readonly<Record<string, object>>; readonly severities: readonly string[] }>
> = {
  'openreports.io': {
    members: {
      source: text,
      configuration: object({ limits: object({ maxResults: integer, statusFilter: list({ ...text, enum: results }) }) }, ['limits']),
    },
    severities: ['critical', 'high', 'low', 'medium', 'info'],
  },
  'wgpolicyk8s.io': { members: {}, severities: ['high', 'low', 'medium'] },
};

const shortNames: Readonly<Record<string, string>> = {
  reports: 'reps',
  clusterreports: 'creps',
  policyreports: 'polr',
  clusterpolicyreports: 'cpolr',
};

/** Returns the definitions of the kinds of a group, with the members and columns that viewers expect. */
export function reportDefinitions(group: ReportGroup): KubeObject[] {
  const { namespaced, cluster } = reportKinds[group];
  return [definition(group, namespaced, 'Namespaced'), definition(group, cluster, 'Cluster')];
}

function definition(group: ReportGroup, { kind, resource }: { kind: string; resource: string }, scope: string): KubeObject {
  const { members, severities } = ownMembers[group];
  const counts = results.map((name) => ({
    name: `${name[0]?.toUpperCase()}${name.slice(1)}`,
    type: 'integer',
    jsonPath: `.summary.${name}`,
  }));
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${resource}.${group}` },
    spec: {
      group,
      scope,
      names: { kind, listKind: `${kind}List`, plural: resource, singular: kind.toLowerCase(), shortNames: [shortNames[resource]] },
      versions: [
        {
          name: reportKinds[group].version,
          served: true,
          storage: true,
          additionalPrinterColumns: [
            { name: 'Kind', type: 'string', priority: 1, jsonPath: '.scope.kind' },
            { name: 'Name', type: 'string', priority: 1, jsonPath: '.scope.name' },
            ...counts,
            { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          ],
          schema: {
            openAPIV3Schema: object({
              apiVersion: text,
              kind: text,
              metadata: { type: 'object' },
              ...members,
              scope: reference,
              scopeSelector: selector,
              summary,
              results: list(resultSchema(severities)),
            }),
          },
        },
      ],
    },
  } as KubeObject;
}
