import type { KubeObject } from '#apimachinery/meta/types';
import { admissionPluginOptions } from '#apiserver/admission/admission-plugin';
import type { PluginVerdict } from '#apiserver/admission/scan/object-scan';
import type { VerdictResult } from '#apiserver/admission/scan/verdict';
import type { UserInfo } from '#apiserver/request/user-info';
import { connectApi } from '#cmd/explain/api';
import { readObjects } from '#cmd/objects/documents';
import { webhookPlugin } from '#apiserver/admission/scan/scanned-plugins';
import { AuditedPolicies, isWebhooks } from './audited-policies.ts';
import { Cluster, type ClusterResource } from './cluster.ts';
import { readingClient } from './cluster-client.ts';
import { ScanServer } from './scan-server.ts';

/** Options of an audit of the stored objects of a cluster. */
export interface PolicyAuditOptions {
  readonly kubeconfig: string;
  /** Path of a ServerConfiguration with packages. */
  readonly config?: string | undefined;
  /** Files of policies, bindings, parameters and namespaces; if there are any, only these are evaluated. */
  readonly files: readonly string[];
  /** Names of policies and plugins; empty: all. */
  readonly policies: readonly string[];
  /** True: validating webhooks without side effects are called for each object, with a dry run. */
  readonly webhooks?: boolean | undefined;
  /** Namespaces whose objects are audited; empty: all, and objects outside of namespaces. */
  readonly namespaces: readonly string[];
  /** Resources (`pods`, `deployments.apps`) that are audited; empty: all. */
  readonly resources: readonly string[];
  /** User of the assumed requests. */
  readonly user: UserInfo;
}

/** A stored object with its verdicts. */
export interface AuditedObject {
  readonly object: KubeObject;
  readonly verdicts: readonly PluginVerdict[];
}

/** A resource whose objects could not be audited. */
export interface NotAudited {
  readonly resource: string;
  readonly reason: string;
  /** True if the audit is therefore incomplete. False: the resource is not stored in the cluster's API server. */
  readonly isFailure: boolean;
}

/** Numbers of verdicts of one policy. */
export interface PolicySummary extends Record<VerdictResult, number> {
  readonly plugin: string;
  readonly policy: string;
}

/** Reports of policies and exceptions from them, which are not audited themselves. */
const reportGroups = new Set(['openreports.io', 'policy.kubenest.dev', 'wgpolicyk8s.io']);

/**
 * Evaluates policies on the stored objects of a cluster, which it reads in chunks and does not keep. Disposal ends the server that
 * evaluates them.
 */
export class PolicyAudit implements AsyncDisposable {
  readonly notAudited: NotAudited[] = [];
  readonly #summaries = new Map<string, PolicySummary>();
  #objects = 0;

  private constructor(
    private readonly options: PolicyAuditOptions,
    readonly cluster: Cluster,
    private readonly server: ScanServer,
    private readonly resources: readonly ClusterResource[],
    /** Namespaces that files give; undefined: there are no files, so that PodSecurity applies to all. */
    private readonly givenNamespaces: ReadonlySet<string> | undefined,
    private readonly resourcesToEnd: AsyncDisposableStack,
  ) {}

  /** Connects to the cluster and loads its policies. Rejects if it cannot be reached, or for wrong files. */
  static async open(options: PolicyAuditOptions): Promise<PolicyAudit> {
    await using stack = new AsyncDisposableStack();
    const given = (await readObjects(options.files)).map(({ object }) => object);
    const cluster = new Cluster(stack.use(await connectApi(options.kubeconfig)));
    const notAudited: NotAudited[] = [];
    const resources = await cluster.resources((resource, error) => notAudited.push({ resource, reason: error.message, isFailure: true }));
    const hasFiles = given.length > 0;
    const namespaces = new Set(given.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata.name ?? ''));
    const { config, user, webhooks = false } = options;
    const hasWebhooks = given.some(isWebhooks);
    if (hasWebhooks && !webhooks) throw new Error('the files have webhooks: add --webhooks, by which they are called');
    const isUsed = (plugin: string): boolean =>
      !hasFiles ||
      plugin === 'ValidatingAdmissionPolicy' ||
      (plugin === 'PodSecurity' && namespaces.size > 0) ||
      (plugin === webhookPlugin && hasWebhooks);
    const server = stack.use(await ScanServer.start({ config, isUsed, user, webhooks, client: readingClient(cluster) }));
    const plugins = server.plugins.map((plugin) => admissionPluginOptions(plugin).name);
    const names = await new AuditedPolicies(server, cluster, resources).load(given, plugins);
    const wanted = options.policies.find((name) => !plugins.includes(name) && !names.includes(name));
    if (wanted !== undefined) throw new Error(`no policy or plugin is named ${JSON.stringify(wanted)}`);
    if (hasFiles && names.length === 0 && plugins.every((plugin) => plugin === 'ValidatingAdmissionPolicy'))
      throw new Error(`${options.files.join(', ')}: no policy, webhook or Namespace, so nothing would be evaluated`);
    const isServed = (name: string): boolean => resources.some((one) => isNamed(one, name));
    const unserved = options.resources.find((name) => !isServed(name));
    if (unserved !== undefined) throw new Error(`the cluster has no resource that is named ${JSON.stringify(unserved)}`);
    const audit = new PolicyAudit(options, cluster, server, resources, hasFiles ? namespaces : undefined, stack.move());
    audit.notAudited.push(...notAudited);
    return audit;
  }

  /** Number of objects that were read. */
  get objects(): number {
    return this.#objects;
  }

  /** Numbers of verdicts by policy, sorted by name. */
  get summaries(): PolicySummary[] {
    return [...this.#summaries.values()].toSorted((a, b) => (a.policy < b.policy ? -1 : 1));
  }

  /** True if every object of the cluster was audited by every policy, so that reports of other objects are stale. */
  get isWhole(): boolean {
    const { files, policies, namespaces, resources } = this.options;
    return (
      [files, policies, namespaces, resources].every((list) => list.length === 0) && this.notAudited.every(({ isFailure }) => !isFailure)
    );
  }

  /** Yields all audited objects, also those to which no policy applies. Resources that cannot be listed are in `notAudited` afterwards. */
  async *run(): AsyncGenerator<AuditedObject> {
    const stored = new Set<string>();
    const unknown = new Map<string, string>();
    for (const resource of this.#selected()) {
      const endpoint = this.server.endpointOf(resource);
      const name = nameOf(resource);
      if (!endpoint) {
        unknown.set(name, `kubenest does not know ${resource.group}/${resource.version}`);
        continue;
      }
      // Several groups and versions may serve the same objects.
      const path = endpoint.definition.storagePath as string;
      if (stored.has(path)) continue;
      stored.add(path);
      unknown.delete(name);
      try {
        for (const namespace of this.#namespacesOf(resource))
          for await (const document of this.cluster.objects(resource, namespace)) {
            this.#objects += 1;
            const verdicts = await this.#verdictsOn(resource, document);
            yield { object: document, verdicts };
          }
      } catch (error) {
        this.notAudited.push({ resource: name, reason: (error as Error).message, isFailure: true });
      }
    }
    for (const [resource, reason] of unknown) this.notAudited.push({ resource, reason, isFailure: false });
  }

  async #verdictsOn(resource: ClusterResource, document: KubeObject): Promise<PluginVerdict[]> {
    const verdicts = (await this.#evaluated(resource, document)).filter((verdict) => this.#isAsked(verdict, document));
    for (const { plugin, policy, result } of verdicts) {
      const key = `${plugin}/${policy}`;
      let summary = this.#summaries.get(key);
      if (!summary) this.#summaries.set(key, (summary = { plugin, policy, pass: 0, fail: 0, warn: 0, error: 0, skip: 0 }));
      summary[result] += 1;
    }
    return verdicts;
  }

  async #evaluated(resource: ClusterResource, document: KubeObject): Promise<PluginVerdict[]> {
    try {
      const endpoint = this.server.endpointOf(resource);
      if (!endpoint) throw new Error('its definition was removed');
      return await this.server.scan.verdictsOn(endpoint.admission, this.server.decode(endpoint, document));
    } catch (error) {
      const { namespace, name } = document.metadata;
      const path = [nameOf(resource), namespace, name].filter(Boolean).join('/');
      this.notAudited.push({ resource: path, reason: (error as Error).message, isFailure: true });
      return [];
    }
  }

  #isAsked({ plugin, policy }: PluginVerdict, { metadata: { namespace = '' } }: KubeObject): boolean {
    if (plugin === 'PodSecurity' && this.givenNamespaces && !this.givenNamespaces.has(namespace)) return false;
    const { policies } = this.options;
    return policies.length === 0 || policies.includes(policy) || policies.includes(plugin);
  }

  #selected(): ClusterResource[] {
    const { resources, namespaces } = this.options;
    return this.resources.filter(
      (one) =>
        !reportGroups.has(one.group) &&
        (namespaces.length === 0 || one.namespaced) &&
        (resources.length === 0 || resources.some((name) => isNamed(one, name))),
    );
  }

  #namespacesOf({ namespaced }: ClusterResource): readonly string[] {
    return namespaced && this.options.namespaces.length > 0 ? this.options.namespaces : [''];
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.resourcesToEnd.disposeAsync();
  }
}

/** True if the name is that of the resource, with or without its group. */
function isNamed(resource: ClusterResource, name: string): boolean {
  return name === resource.resource || name === nameOf(resource);
}

function nameOf({ group, resource }: ClusterResource): string {
  return group === '' ? resource : `${resource}.${group}`;
}
