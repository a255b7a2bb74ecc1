import { describe, expect, it } from 'vitest';
import { AdmissionPlugin } from '#apiserver/admission/admission-plugin';
import type { AdmissionMatch, AdmissionPluginClass, AdmissionPluginOptions } from '#apiserver/admission/attributes';
import { contributionOf } from '#apiserver/plugins/loaded-contribution';
import type { PluginGuard } from '#apiserver/plugins/guard-admission';
import { knownScheme } from '#cmd/apis/known-scheme';
import { type PluginScope, type ServedPlugin, webhookEntries } from './webhook-entries.ts';

const scheme = knownScheme();

interface PluginTraits {
  readonly guard?: Partial<PluginGuard>;
  readonly scope?: PluginScope;
  readonly phases?: ServedPlugin['phases'];
  readonly after?: readonly string[];
  readonly matchByPhase?: AdmissionPluginOptions['matchByPhase'];
}

function plugin(name: string, match: readonly AdmissionMatch[], traits: PluginTraits = {}): ServedPlugin {
  const { guard, scope, phases, after, matchByPhase } = traits;
  class Plugin {
    validate(): void {}
  }
  AdmissionPlugin({ name, match, ...(after && { after }), ...(matchByPhase && { matchByPhase }) })(Plugin);
  const contribution = contributionOf(Plugin as AdmissionPluginClass);
  return { contribution: { ...contribution, guard: { ...contribution.guard, ...guard } }, phases: phases ?? ['validate'], scope };
}

const maps: AdmissionMatch = { groups: [''], resources: ['configmaps'], operations: ['CREATE'] };

describe('rules', () => {
  it.each<{ name: string; match: AdmissionMatch; rules: object[] }>([
    {
      name: 'a resource in its storage version and scope',
      match: { resources: ['horizontalpodautoscalers', 'nodes'], operations: ['CREATE', 'UPDATE'] },
      rules: [
        { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['nodes'], scope: 'Cluster' },
        {
          apiGroups: ['autoscaling'],
          apiVersions: ['v2'],
          operations: ['CREATE', 'UPDATE'],
          resources: ['horizontalpodautoscalers'],
          scope: 'Namespaced',
        },
      ],
    },
    {
      name: 'resources of one group together',
      match: { groups: ['apps'], resources: ['deployments', 'statefulsets'], operations: ['UPDATE'] },
      rules: [
        {
          apiGroups: ['apps'],
          apiVersions: ['v1'],
          operations: ['UPDATE'],
          resources: ['deployments', 'statefulsets'],
          scope: 'Namespaced',
        },
      ],
    },
    {
      name: 'only operations that the resource has',
      match: { groups: [''], resources: ['pods'], subresources: ['exec', 'eviction'], operations: ['CREATE', 'CONNECT'] },
      rules: [
        { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods/eviction'], scope: 'Namespaced' },
        { apiGroups: [''], apiVersions: ['v1'], operations: ['CONNECT'], resources: ['pods/exec'], scope: 'Namespaced' },
      ],
    },
    {
      name: 'custom resources in all versions',
      match: { groups: ['acme.example'], resources: ['widgets'], subresources: ['', 'status'], operations: ['UPDATE'] },
      rules: [
        { apiGroups: ['acme.example'], apiVersions: ['*'], operations: ['UPDATE'], resources: ['widgets', 'widgets/status'], scope: '*' },
      ],
    },
    {
      name: 'subresources, without those that a wildcard covers',
      match: { groups: ['acme.example'], resources: ['widgets'], subresources: ['', '*', 'status'], operations: ['UPDATE'] },
      rules: [{ apiGroups: ['acme.example'], apiVersions: ['*'], operations: ['UPDATE'], resources: ['widgets/*'], scope: '*' }],
    },
    {
      name: 'everything',
      match: { resources: ['*'], subresources: ['*'], operations: ['DELETE'] },
      rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['DELETE'], resources: ['*/*'], scope: '*' }],
    },
  ])('select $name', ({ match, rules }) => {
    const [entry] = webhookEntries('validate', [plugin('One', [match])], scheme, []);
    expect(entry?.rules).toHaveLength(rules.length);
    expect(entry?.rules).toEqual(expect.arrayContaining(rules));
  });

  it('select what a plugin handles in the phase of the webhook', () => {
    const deleted: AdmissionMatch = { ...maps, operations: ['DELETE'] };
    const matchByPhase = { admit: [maps], validate: [deleted] };
    const served = plugin('Both', [maps, deleted], { phases: ['mutate', 'validate'], matchByPhase });
    const operations = (phase: 'mutate' | 'validate'): unknown =>
      webhookEntries(phase, [served], scheme, []).map(({ rules }) => rules.map((rule) => rule.operations));
    expect([operations('mutate'), operations('validate')]).toEqual([[[['CREATE']]], [[['DELETE']]]]);
  });
});

describe('webhooks', () => {
  it('are shared by plugins that follow each other and fail alike', () => {
    const plugins = [
      plugin('One', [maps]),
      plugin('Two', [maps], { guard: { timeoutMs: 2_500 } }),
      plugin('Three', [maps], { guard: { failurePolicy: 'Ignore' } }),
      plugin('Four', [maps]),
      plugin('Changes', [maps], { phases: ['mutate'] }),
    ];
    const entries = webhookEntries('validate', plugins, scheme, []);
    expect(entries.map(({ path, failurePolicy, timeoutSeconds }) => ({ path, failurePolicy, timeoutSeconds }))).toEqual([
      { path: '/validate/one/two', failurePolicy: 'Fail', timeoutSeconds: 11 },
      { path: '/validate/three', failurePolicy: 'Ignore', timeoutSeconds: 11 },
      { path: '/validate/four', failurePolicy: 'Fail', timeoutSeconds: 11 },
    ]);
    expect(entries.map(({ name }) => name)).toEqual([
      'group-1.plugins.validate.kubenest.dev',
      'three.validate.kubenest.dev',
      'four.validate.kubenest.dev',
    ]);
    expect(webhookEntries('mutate', plugins, scheme, []).map(({ path }) => path)).toEqual(['/mutate/changes']);
  });

  it('have names and paths that the API accepts', () => {
    const [entry] = webhookEntries('validate', [plugin('_acme_Team', [maps])], scheme, []);
    expect([entry?.name, entry?.path]).toEqual(['acme-team.validate.kubenest.dev', '/validate/acme-team']);
    expect(() => webhookEntries('validate', [plugin('Team', [maps]), plugin('team', [maps])], scheme, [])).toThrow(
      'admission plugins Team and team have the same name in the paths of webhooks, team',
    );
  });

  it('are in the order of `before` and `after`', () => {
    const plugins = [plugin('One', [maps], { after: ['Two'] }), plugin('Two', [maps])];
    expect(webhookEntries('validate', plugins, scheme, [])[0]?.path).toBe('/validate/two/one');
  });

  it('select namespaces as far as selectors can express the scope', () => {
    const scope = { namespaces: ['b', 'a'], excludedNamespaces: ['c', 'kube-*'], namespaceSelector: { matchLabels: { team: 'x' } } };
    const [exact] = webhookEntries('validate', [plugin('One', [maps], { scope })], scheme, ['kubenest']);
    expect(exact?.namespaceSelector).toEqual({
      matchLabels: { team: 'x' },
      matchExpressions: [
        { key: 'kubernetes.io/metadata.name', operator: 'In', values: ['a', 'b'] },
        { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['c', 'kubenest'] },
      ],
    });
    const [pattern] = webhookEntries('validate', [plugin('One', [maps], { scope: { namespaces: ['a', 'b-*'] } })], scheme, []);
    expect(pattern).not.toHaveProperty('namespaceSelector');
  });
});
