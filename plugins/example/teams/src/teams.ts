import { ageColumn, apiGroup, defineResource, type JsonSchemaProps, type KubeObject, nameColumn } from 'kubenest/sdk';

/** A team with its namespaces. */
export interface Team extends KubeObject {
  spec: {
    /** Users who may edit the namespaces. */
    members?: string[];
    /** Each has a namespace of its own, `TEAM-ENVIRONMENT`. */
    environments: string[];
    /** Limits of each namespace, as in a ResourceQuota. */
    quota?: Record<string, string>;
  };
  status?: { namespaces?: string[]; observedGeneration?: number };
}

const names: JsonSchemaProps = {
  type: 'array',
  maxItems: 50,
  'x-kubernetes-list-type': 'set',
  items: { type: 'string', minLength: 1, maxLength: 63 },
};

const schema: JsonSchemaProps = {
  type: 'object',
  description: 'A team with its namespaces.',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      required: ['environments'],
      properties: {
        members: { ...names, description: 'Users who may edit the namespaces.' },
        environments: {
          ...names,
          description: 'Each has a namespace of its own, TEAM-ENVIRONMENT.',
          items: { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: 20 },
        },
        quota: {
          type: 'object',
          description: 'Limits of each namespace, as in a ResourceQuota.',
          additionalProperties: { 'x-kubernetes-int-or-string': true },
        },
      },
    },
    status: { type: 'object', properties: { namespaces: names, observedGeneration: { type: 'integer', format: 'int64' } } },
  },
};

const teams = defineResource<Team>({
  kind: 'Team',
  resource: 'teams',
  namespaced: false,
  versions: [{ name: 'v1', schema }],
  status: true,
  columns: [
    nameColumn,
    { name: 'Members', type: 'integer', description: 'Number of members.', value: ({ spec }) => spec.members?.length ?? 0 },
    {
      name: 'Namespaces',
      type: 'string',
      description: 'Namespaces of the team.',
      value: ({ status }) => status?.namespaces?.join(',') ?? '',
    },
    ageColumn,
  ],
});

/** The API group of the package. */
export const teamsGroup = apiGroup({ name: 'Teams', group: 'teams.example.com', resources: [teams] });
