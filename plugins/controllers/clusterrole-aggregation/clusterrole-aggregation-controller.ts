import {
  Controller,
  ControllerClient,
  deepEqual,
  inject,
  labelSelectorAsSelector,
  type LabelSelectorSource,
  type ReconcileRequest,
  type SharedInformer,
  SharedInformers,
  Watches,
} from 'kubenest/sdk';
import type { ClusterRole, PolicyRule } from 'kubenest/types/rbac_v1';
import { asManager } from '../common/as-manager.ts';

const clusterRoles = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  resource: 'clusterroles',
  kind: 'ClusterRole',
  isClusterScoped: true,
} as const;
const name = 'clusterrole-aggregation-controller';

/**
 * Fills ClusterRoles that have an aggregationRule with the rules of the roles that it selects. Upstream:
 * pkg/controller/clusterroleaggregation.
 */
@Controller({ name, for: clusterRoles, concurrency: 5, ...asManager, userAgent: name })
export class ClusterRoleAggregationController {
  readonly #clusterRoles: SharedInformer<ClusterRole>;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
  ) {
    this.#clusterRoles = informers.for<ClusterRole>(clusterRoles);
    this.#clusterRoles.addIndex(aggregated, ({ aggregationRule }) => (aggregationRule ? [aggregated] : []));
  }

  /** Each role may contribute to each aggregated role. */
  @Watches(clusterRoles)
  *requestsOfClusterRole(): Iterable<ReconcileRequest> {
    for (const { metadata } of this.#clusterRoles.byIndex(aggregated, aggregated)) yield { namespace: '', name: metadata.name as string };
  }

  async reconcile({ name: role }: ReconcileRequest): Promise<void> {
    const present = this.#clusterRoles.get('', role);
    if (!present?.aggregationRule) return;
    const rules = aggregatedRules(present, this.#clusterRoles.list());
    if (deepEqual(rules, present.rules ?? [])) return;
    const apiVersion = `${clusterRoles.group}/${clusterRoles.version}`;
    await this.client.apply(clusterRoles, { apiVersion, kind: clusterRoles.kind, metadata: { name: role }, rules }, { force: true });
  }
}

/** Name and only value of the index of aggregated roles. */
const aggregated = 'aggregated';

/** Returns the different rules of the selected roles: by selector, then by the name of the role. */
export function aggregatedRules({ metadata, aggregationRule }: ClusterRole, all: readonly ClusterRole[]): PolicyRule[] {
  const byName = all.toSorted((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1));
  const rules: PolicyRule[] = [];
  for (const selector of aggregationRule?.clusterRoleSelectors ?? []) {
    const selected = labelSelectorAsSelector(selector as LabelSelectorSource);
    for (const role of byName) {
      if (role.metadata.name === metadata.name || !selected.matches(role.metadata.labels ?? {})) continue;
      for (const rule of role.rules ?? []) if (!rules.some((present) => deepEqual(present, rule))) rules.push(rule);
    }
  }
  return rules;
}
