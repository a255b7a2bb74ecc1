import { type KubeObject, parseGroupVersion } from '#apimachinery/meta/types';
import { inSteps } from '#apimachinery/runtime/steps';
import { mask } from '#plugins/common/quota/quota-amounts';
import type { ResourceQuotaObject } from '#plugins/common/quota/evaluator';
import { QuotaEvaluators } from '#plugins/common/quota/quota-evaluators';
import { usageOf } from '#plugins/controllers/resourcequota/quota-usage';
import { type CreatedObject, createObject, type Fetch } from '#cmd/objects/create-object';
import type { InProcessApi } from './api.ts';

const rbac = 'rbac.authorization.k8s.io';

/**
 * The existing objects of an empty server, stored as they are given: admission does not change or deny them. No controller runs, so
 * `ExistingObjects` does what requests depend on: it creates missing namespaces, and counts the usage of quotas without a status.
 */
export class ExistingObjects {
  readonly #fetch: Fetch;
  readonly #quotas = new Set<string>();
  #bindings = 0;

  /** `namespace`: that of objects that name none. */
  constructor(
    readonly api: InProcessApi,
    readonly namespace: string,
  ) {
    this.#fetch = async (path, { method, headers, body } = {}) => {
      const answer = await api.ask({ method: method ?? (body ? 'POST' : 'GET'), path, headers: headers && { ...headers }, body });
      return new Response(answer.text, { status: answer.status, headers: answer.headers });
    };
  }

  /**
   * Creates objects, namespaces and definitions of custom resources first, and replaces those that exist. Rejects with the server's message
   * for the first one that is invalid.
   */
  add(objects: readonly KubeObject[]): Promise<CreatedObject[]> {
    return this.api.withoutAdmission(async () => {
      const { namespaces = [], others = [] } = Object.groupBy(objects, ({ kind }) => (kind === 'Namespace' ? 'namespaces' : 'others'));
      const created = await this.#create(namespaces);
      await this.#ensureNamespaces([
        ...namespaces.map(({ metadata }) => metadata.name),
        ...others.map((object) => this.#namespaceOf(object)),
      ]);
      created.push(...(await this.#create(others.sort((a, b) => rank(a) - rank(b)))));
      await this.#countUsage();
      return created;
    });
  }

  /** Creates the namespaces of the objects unless they exist, each with its service account. */
  ensureNamespaces(objects: readonly KubeObject[]): Promise<void> {
    return this.api.withoutAdmission(() => this.#ensureNamespaces(objects.map((object) => this.#namespaceOf(object))));
  }

  /** Authorizes a user for all requests. Returns the binding. */
  async authorize(user: string): Promise<CreatedObject[]> {
    this.#bindings += 1;
    return this.add([everythingFor(user, this.#bindings === 1 ? 'kubenest-explain' : `kubenest-explain-${this.#bindings}`)]);
  }

  /** Deletes objects. Resolves to false if one of them remains, or if it replaced another one. */
  remove(created: readonly CreatedObject[]): Promise<boolean> {
    return this.api.withoutAdmission(async () => {
      for (const { path } of created.toReversed()) {
        await this.#fetch(`${path}?gracePeriodSeconds=0`, { method: 'DELETE' });
        this.#quotas.delete(path);
      }
      const left = await Promise.all(created.map(async ({ path, replaced }) => replaced || (await this.#fetch(path)).status !== 404));
      await this.#countUsage();
      return !left.includes(true);
    });
  }

  async #create(objects: readonly KubeObject[]): Promise<CreatedObject[]> {
    const created: CreatedObject[] = [];
    for (const object of objects) {
      const one = await createObject(this.#fetch, object, { namespace: this.namespace, replaces: true, isStrict: true });
      if (object.kind === 'ResourceQuota' && object['status'] === undefined) this.#quotas.add(one.path);
      created.push(one);
    }
    return created;
  }

  #namespaceOf({ metadata }: KubeObject): string {
    return metadata.namespace ?? this.namespace;
  }

  async #ensureNamespaces(names: readonly (string | undefined)[]): Promise<void> {
    for (const name of new Set(names)) {
      if (name === undefined) continue;
      await this.#ensure('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: name } };
      await this.#ensure(`/api/v1/namespaces/${name}/serviceaccounts`, account);
    }
  }

  async #ensure(collection: string, object: KubeObject): Promise<void> {
    if (!(await this.#fetch(`${collection}/${object.metadata.name}`)).ok) await this.#fetch(collection, { body: object });
  }

  /** Sets the status of quotas as the quota controller would. */
  async #countUsage(): Promise<void> {
    for (const path of this.#quotas) {
      const quota = (await (await this.#fetch(path)).json()) as ResourceQuotaObject;
      const counting = usageOf(quota, new QuotaEvaluators(this.api.informers), (resource) => {
        try {
          return this.api.informers.for(resource).list(quota.metadata.namespace);
        } catch {
          return undefined;
        }
      });
      const usage = await inSteps(counting);
      const hard = quota.spec?.hard ?? {};
      const used = Object.fromEntries([...mask(usage, new Set(Object.keys(hard)))].map(([name, amount]) => [name, String(amount)]));
      const headers = { 'content-type': 'application/merge-patch+json' };
      await this.#fetch(`${path}/status`, { method: 'PATCH', headers, body: { status: { hard, used } } });
    }
  }
}

/** True for an RBAC object. */
export function isAccessRule({ apiVersion }: KubeObject): boolean {
  return parseGroupVersion(apiVersion).group === rbac;
}

/** Order of creation: definitions of custom resources before their objects. */
function rank({ kind }: KubeObject): number {
  return kind === 'CustomResourceDefinition' ? 0 : 1;
}

function everythingFor(name: string, binding: string): KubeObject {
  return {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: binding },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: rbac, kind: 'User', name }],
  };
}
