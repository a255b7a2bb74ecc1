import { reconcileTable } from 'kubenest/sdk/testing';
import type { KubeObject } from 'kubenest/sdk';
import { ClusterRoleAggregationController } from './clusterrole-aggregation-controller.ts';

const rule = (resource: string): object => ({ apiGroups: ['example.com'], resources: [resource], verbs: ['get'] });
const role = (name: string, labels: Record<string, string>, rules: readonly object[]): KubeObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name, labels },
  rules,
});
const aggregated = (rules: readonly object[], labels = {}): KubeObject => ({
  ...role('all', labels, rules),
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: 'a' } }, { matchLabels: { part: 'b' } }] },
});
const parts = [
  role('z', { part: 'a' }, [rule('z'), rule('shared')]),
  role('b', { part: 'a' }, [rule('b'), rule('shared')]),
  role('c', { part: 'b' }, [rule('c')]),
];
const all = [rule('b'), rule('shared'), rule('z'), rule('c')];
const resource = 'clusterroles.rbac.authorization.k8s.io';

reconcileTable(ClusterRoleAggregationController, [
  {
    name: 'collects the rules by selector and name, each once',
    objects: { [resource]: [aggregated([]), ...parts, role('other', {}, [rule('other')])] },
    request: 'all',
    writes: [`apply ${resource} all`],
    want: { [resource]: { all: { rules: all } } },
  },
  { name: 'writes nothing if the rules are right', objects: { [resource]: [aggregated(all), ...parts] }, request: 'all' },
  {
    name: 'does not aggregate a role into itself',
    objects: { [resource]: [aggregated([rule('own')], { part: 'a' })] },
    request: 'all',
    writes: [`apply ${resource} all`],
    want: { [resource]: { all: { rules: [] } } },
  },
  { name: 'leaves other roles alone', objects: { [resource]: parts }, request: 'b' },
  { name: 'ignores a role that is gone', request: 'gone' },
]);
