import type { GroupVersion, KubeObject } from '#apimachinery/meta/types';
import type { JsonSchemaProps } from '#apimachinery/structural/json-schema-props';
import { type FieldError, type Path, fieldPath, invalid, notSupported, required } from '#apimachinery/validation/field';
import { validateLabelSelector } from '#apimachinery/validation/object-meta';
import type { ContributedValue } from '#apiserver/base/contribution';
import { apiGroup, contributedResource } from '#apiserver/registry/contributed-group';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import type { Column, Strategy } from '#apiserver/registry/resource-definition';
import { labelSelectorSchema } from './label-selector-schema.ts';
import { expressionError, hasCriterion } from './policy-exception.ts';
import type { ExceptionConfiguration } from './policy-configuration.ts';

/** Group and version of the exceptions that are API objects. */
export const exceptionGroup: GroupVersion = { group: 'policy.kubenest.dev', version: 'v1alpha1' };

/** A condition of an exception. */
interface ExceptionCondition {
  type: string;
  status: string;
  reason: string;
  message: string;
  lastTransitionTime: string;
}

/** An exception to admission plugins of packages: a PolicyException of one namespace, or a ClusterPolicyException. */
export interface ExceptionObject extends KubeObject {
  spec: ExceptionConfiguration & { plugins: string[] };
  status?: { uses?: number; lastUsedTime?: string; conditions?: ExceptionCondition[] };
}

const names = (description: string): JsonSchemaProps => ({
  type: 'array',
  description,
  maxItems: 256,
  items: { type: 'string', minLength: 1, maxLength: 512 },
});

const criteria: Record<string, JsonSchemaProps> = {
  names: names('Names of the objects; `*` stands for any text.'),
  objectSelector: { ...labelSelectorSchema, description: 'Selects objects by labels; the old object for DELETE.' },
  users: names('Users; `*` stands for any text. `users` and `groups` are alternatives.'),
  groups: names('Groups of users; `*` stands for any text.'),
  expression: {
    type: 'string',
    description: 'CEL condition with the variables object, oldObject and request.',
    minLength: 1,
    maxLength: 4096,
  },
};

function schemaOf(description: string, more: Record<string, JsonSchemaProps>): JsonSchemaProps {
  return {
    type: 'object',
    description,
    required: ['spec'],
    properties: {
      spec: {
        type: 'object',
        required: ['plugins', 'reason'],
        properties: {
          plugins: {
            ...names('Names of the admission plugins that are not called. Only plugins of packages can have exceptions.'),
            minItems: 1,
            'x-kubernetes-list-type': 'set',
          },
          reason: { type: 'string', description: 'Reason of the exception, for example a ticket.', minLength: 1, maxLength: 1024 },
          expires: { type: 'string', format: 'date-time', description: 'Time from which the exception no longer applies.' },
          ...criteria,
          ...more,
        },
      },
      status: {
        type: 'object',
        properties: {
          uses: { type: 'integer', format: 'int64', description: 'Number of calls of plugins that the exception replaced.' },
          lastUsedTime: { type: 'string', format: 'date-time', description: 'Time of the last of these calls.' },
          conditions: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['type'],
            items: {
              type: 'object',
              required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
              properties: {
                type: { type: 'string' },
                status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
                reason: { type: 'string' },
                message: { type: 'string' },
                lastTransitionTime: { type: 'string', format: 'date-time' },
              },
            },
          },
        },
      },
    },
  };
}

const columns: readonly Column<ExceptionObject>[] = [
  nameColumn,
  { name: 'Plugins', type: 'string', description: 'Plugins that are not called.', value: ({ spec }) => spec.plugins.join(',') },
  { name: 'Reason', type: 'string', description: 'Reason of the exception.', value: ({ spec }) => spec.reason },
  { name: 'Expires', type: 'string', description: 'Time from which it no longer applies.', value: expiryText },
  { name: 'Uses', type: 'integer', description: 'Number of replaced calls.', value: ({ status }) => status?.uses ?? 0 },
  ageColumn,
];

function expiryText({ spec: { expires }, status }: ExceptionObject): string {
  const isExpired = status?.conditions?.some(({ type, status: value }) => type === 'Expired' && value === 'True') ?? false;
  return expires === undefined ? '<never>' : `${String(expires)}${isExpired ? ' (expired)' : ''}`;
}

/** A kind of exceptions. */
export interface ExceptionKind {
  readonly kind: string;
  /** Plural name in the URL. */
  readonly resource: string;
  readonly namespaced: boolean;
  readonly schema: JsonSchemaProps;
}

/** PolicyException, which applies only to requests in its own namespace, and ClusterPolicyException. */
export const exceptionKinds: readonly ExceptionKind[] = [
  {
    kind: 'PolicyException',
    resource: 'policyexceptions',
    namespaced: true,
    schema: schemaOf(
      "Exception to admission plugins of packages for requests in its namespace. It does not cover the namespace's own object.",
      {},
    ),
  },
  {
    kind: 'ClusterPolicyException',
    resource: 'clusterpolicyexceptions',
    namespaced: false,
    schema: schemaOf('Exception to admission plugins of packages for requests in all namespaces and outside of namespaces.', {
      namespaces: names('Namespaces of the requests; `*` stands for any text. Default: all requests.'),
    }),
  },
];

/**
 * Returns the API group of exceptions. `plugins`: names of the admission plugins of packages. An exception must not name any other plugin;
 * the built-in ones have none.
 */
export function exceptionApis(plugins: readonly string[]): ContributedValue {
  const pluginErrors = ({ spec }: ExceptionObject, known: readonly string[]): FieldError[] =>
    spec.plugins.flatMap((name, i) => (known.includes(name) ? [] : [notSupported(specPath.child('plugins').index(i), name, known)]));
  const strategy: Strategy<ExceptionObject> = {
    validate: (object) => [...pluginErrors(object, plugins), ...exceptionErrors(object)],
    // The plugin of a stored exception may have been unloaded since.
    validateUpdate: (object, old) => [...pluginErrors(object, [...plugins, ...old.spec.plugins]), ...exceptionErrors(object)],
    warningsOnCreate: (object, { now }) => exceptionWarnings(object, now),
    warningsOnUpdate: (object, _old, { now }) => exceptionWarnings(object, now),
  };
  return apiGroup({
    name: 'PolicyExceptions',
    group: exceptionGroup.group,
    resources: exceptionKinds.map(({ schema, ...kind }) =>
      contributedResource<ExceptionObject>({
        ...kind,
        versions: [{ name: exceptionGroup.version, schema }],
        status: true,
        columns,
        strategy,
      }),
    ),
  });
}

const specPath = fieldPath('spec');

/** Returns the errors of an exception that its schema cannot express. */
export function exceptionErrors({ metadata, spec }: ExceptionObject): FieldError[] {
  const { objectSelector, expression, expires } = spec;
  return [
    ...(objectSelector === undefined ? [] : validateLabelSelector(objectSelector, {}, specPath.child('objectSelector'))),
    ...expressionErrors(expression, specPath.child('expression')),
    // The format of the schema allows offsets that no time zone has.
    ...(expires !== undefined && Number.isNaN(new Date(expires).getTime())
      ? [invalid(specPath.child('expires'), expires, 'must be a time')]
      : []),
    ...(metadata.namespace || hasCriterion(spec)
      ? []
      : [required(specPath, 'must have at least one of namespaces, names, objectSelector, users, groups and expression')]),
  ];
}

/** Returns the warnings about an exception that is written at the time `now`. */
export function exceptionWarnings({ spec: { expires } }: ExceptionObject, now: string | number): string[] {
  const isExpired = expires !== undefined && new Date(expires).getTime() <= new Date(now).getTime();
  return isExpired ? [`${String(specPath.child('expires'))}: ${String(expires)} has passed: the exception does not apply`] : [];
}

function expressionErrors(expression: string | undefined, path: Path): FieldError[] {
  const error = expression === undefined ? undefined : expressionError(expression);
  return error === undefined ? [] : [invalid(path, expression, error)];
}
