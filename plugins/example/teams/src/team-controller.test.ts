import { reconcileTable } from 'kubenest/sdk/testing';
import { startTestCluster } from 'kubenest/testing';
import { expect, it, vi } from 'vitest';
import { TeamController } from './team-controller.ts';
import { type Team, teamsGroup } from './teams.ts';

const team = (spec: Team['spec']): Team => ({
  apiVersion: 'teams.example.com/v1',
  kind: 'Team',
  metadata: { name: 'shop', uid: 'u', generation: 3 },
  spec,
});
const namespace = (name: string, uid = 'u'): object & Team => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name,
    ownerReferences: [{ apiVersion: 'teams.example.com/v1', kind: 'Team', name: 'shop', uid, controller: true, blockOwnerDeletion: true }],
  },
  spec: { environments: [] },
});
const objectsOf = (name: string): string[] => [
  `apply namespaces ${name}`,
  `apply resourcequotas ${name}/team`,
  `apply rolebindings.rbac.authorization.k8s.io ${name}/team`,
];

reconcileTable(TeamController, [
  {
    name: 'creates a namespace with a quota and a role binding for each environment',
    objects: { 'teams.teams.example.com': [team({ members: ['jane'], environments: ['dev', 'prod'], quota: { pods: '5' } })] },
    request: 'shop',
    writes: [...objectsOf('shop-dev'), ...objectsOf('shop-prod'), 'patch teams.teams.example.com/status shop'],
    want: {
      namespaces: { 'shop-dev': { metadata: { ownerReferences: [{ kind: 'Team', name: 'shop', uid: 'u', controller: true }] } } },
      resourcequotas: { 'shop-prod/team': { spec: { hard: { pods: '5' } } } },
      'rolebindings.rbac.authorization.k8s.io': { 'shop-dev/team': { subjects: [{ kind: 'User', name: 'jane' }] } },
      'teams.teams.example.com': { shop: { status: { namespaces: ['shop-dev', 'shop-prod'], observedGeneration: 3 } } },
    },
    events: [
      { type: 'Normal', reason: 'NamespaceCreated', message: 'Created namespace shop-dev' },
      { type: 'Normal', reason: 'NamespaceCreated', message: 'Created namespace shop-prod' },
    ],
  },
  {
    name: 'deletes the namespace of a removed environment, and no other team’s',
    objects: {
      'teams.teams.example.com': [team({ environments: ['dev'] })],
      namespaces: [namespace('shop-dev'), namespace('shop-old'), namespace('other-dev', 'another')],
    },
    request: 'shop',
    writes: [...objectsOf('shop-dev'), 'delete namespaces shop-old', 'patch teams.teams.example.com/status shop'],
    want: { namespaces: { 'shop-old': undefined, 'other-dev': {} } },
    events: [{ type: 'Normal', reason: 'NamespaceDeleted', message: 'Deleted namespace shop-old' }],
  },
  { name: 'ignores a team that is gone', request: 'shop' },
]);

it('gives the members access to their namespaces, and takes these away with the team', async () => {
  await using cluster = await startTestCluster({
    plugins: [teamsGroup, TeamController],
    controllers: ['*'],
    users: [{ name: 'jane' }],
  });
  const teams = '/apis/teams.example.com/v1/teams';
  const configMaps = '/api/v1/namespaces/shop-dev/configmaps';
  const status = async (path: string, init: Parameters<typeof cluster.fetch>[1] = {}): Promise<number> =>
    (await cluster.fetch(path, init)).status;
  expect(await status(teams, { body: team({ members: ['jane'], environments: ['dev'], quota: { 'count/configmaps': '2' } }) })).toBe(201);
  await vi.waitFor(async () => expect(await status(configMaps, { as: 'jane', body: { metadata: { name: 'a' } } })).toBe(201));
  const shown = (await (await cluster.fetch(`${teams}/shop`)).json()) as Team;
  expect(shown.status).toEqual({ namespaces: ['shop-dev'], observedGeneration: 1 });
  const events = (await (await cluster.fetch('/apis/events.k8s.io/v1/events')).json()) as { items: { reason: string }[] };
  expect(events.items.map(({ reason }) => reason)).toContain('NamespaceCreated');
  await cluster.fetch(`${teams}/shop`, { method: 'DELETE' });
  await vi.waitFor(async () => expect(await status('/api/v1/namespaces/shop-dev')).toBe(404));
});
