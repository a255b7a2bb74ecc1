import {
  ageColumn,
  apiGroup,
  defineResource,
  type FieldError,
  fieldPath,
  invalid,
  type JsonSchemaProps,
  type KubeObject,
  nameColumn,
} from 'kubenest/sdk';

/** An environment for a team, which expires after some days. */
export interface Environment extends KubeObject {
  spec: { owner: string; tier: 'small' | 'large'; days: number };
  status?: { phase?: 'Active' | 'Expired'; expires?: string };
}

const status: JsonSchemaProps = {
  type: 'object',
  properties: { phase: { type: 'string', enum: ['Active', 'Expired'] }, expires: { type: 'string', format: 'date-time' } },
};

/** The fields common to both versions. */
const common: Record<string, JsonSchemaProps> = {
  tier: { type: 'string', enum: ['small', 'large'], default: 'small' },
  days: { type: 'integer', format: 'int32', minimum: 1, maximum: 90, default: 14, description: 'How long it lasts.' },
};

const versionOf = (owner: 'owner' | 'team'): JsonSchemaProps => ({
  type: 'object',
  description: 'An environment for a team.',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      required: [owner],
      properties: { [owner]: { type: 'string', minLength: 1, maxLength: 63 }, ...common },
      'x-kubernetes-validations': [
        { rule: "self.tier != 'large' || self.days <= 30", message: 'a large environment lasts 30 days at most', fieldPath: '.days' },
      ],
    },
    status,
  },
});

/** The resource `environments` of platform.example.com. In v1alpha1 the field `owner` was named `team`. */
const environments = defineResource<Environment>({
  kind: 'Environment',
  resource: 'environments',
  shortNames: ['env'],
  categories: ['all'],
  versions: [
    { name: 'v1', schema: versionOf('owner') },
    {
      name: 'v1alpha1',
      schema: versionOf('team'),
      deprecationWarning: 'platform.example.com/v1alpha1 Environment is deprecated; use platform.example.com/v1 Environment',
    },
  ],
  convert(environment, apiVersion) {
    const { spec, ...rest } = environment as KubeObject & { spec: Record<string, unknown> };
    const { team, owner, ...same } = spec;
    const renamed = apiVersion.endsWith('/v1') ? { owner: team, ...same } : { team: owner, ...same };
    return { ...rest, spec: renamed } as unknown as Environment;
  },
  status: true,
  selectableFields: ['.spec.tier'],
  columns: [
    nameColumn,
    { name: 'Tier', type: 'string', description: 'How much there is of it.', value: ({ spec }) => spec.tier },
    { name: 'Phase', type: 'string', description: 'Whether it may be used.', value: ({ status: { phase = '' } = {} }) => phase },
    { name: 'Expires', type: 'date', description: 'When it is due to go.', value: ({ status: { expires = null } = {} }) => expires },
    ageColumn,
  ],
  strategy: {
    warningsOnCreate: ({ spec }) => (spec.days > 60 ? ['an environment of more than 60 days is seldom needed'] : []),
    validateUpdate(environment, old): FieldError[] {
      const path = fieldPath('spec', 'days');
      const isExpired = old.status?.phase === 'Expired';
      return isExpired && environment.spec.days !== old.spec.days ? [invalid(path, environment.spec.days, 'it has expired already')] : [];
    },
  },
});

/** The API group of the package. */
export const platform = apiGroup({ name: 'Environments', group: 'platform.example.com', resources: [environments] });
