import { type GroupVersionKind, type KubeObject, parseGroupVersion } from '#apimachinery/meta/types';
import type { Policy, PolicyBinding, ValidatingPolicySpec } from '#apiserver/admission/policy/policy-types';
import { exceptionGroup, exceptionKinds } from '#apiserver/plugins/policy/exception-group';
import { webhookPlugin } from '#apiserver/admission/scan/scanned-plugins';
import type { Cluster, ClusterResource } from './cluster.ts';
import type { ScanServer } from './scan-server.ts';

const policyGroup = 'admissionregistration.k8s.io';
const policies = { group: policyGroup, resource: 'validatingadmissionpolicies' };
const bindings = { group: policyGroup, resource: 'validatingadmissionpolicybindings' };
const webhooks = { group: policyGroup, resource: 'validatingwebhookconfigurations' };
/** The cluster's API server calls webhooks by them. */
const services = { group: '', resource: 'services' };
const definitions = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' };
const roles = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'].map((resource) => ({
  group: 'rbac.authorization.k8s.io',
  resource,
}));
/** Exceptions to the plugins of packages. */
const exceptions = exceptionKinds.map(({ resource }) => ({ group: exceptionGroup.group, resource }));
/** Resources that built-in plugins read, by plugin. */
const readByPlugins: Readonly<Record<string, { readonly group: string; readonly resource: string }>> = {
  LimitRanger: { group: '', resource: 'limitranges' },
  RuntimeClass: { group: 'node.k8s.io', resource: 'runtimeclasses' },
};

interface DefinitionSpec {
  readonly group: string;
  readonly names: { readonly plural: string };
  readonly versions: readonly { readonly name: string; readonly served: boolean; readonly storage: boolean }[];
}

/** Loads what the policies read from a cluster into the server that evaluates them. */
export class AuditedPolicies {
  constructor(
    private readonly server: ScanServer,
    private readonly cluster: Cluster,
    private readonly resources: readonly ClusterResource[],
  ) {}

  /**
   * Loads namespaces, definitions, the objects that plugins read, policies and their parameters. `given`: objects that replace those of the
   * cluster; if it is not empty, the policies and webhooks of the cluster are left out. Returns the names of the policies and webhooks.
   */
  async load(given: readonly KubeObject[], plugins: readonly string[]): Promise<string[]> {
    await this.#loadDefinitions();
    await this.#loadAll({ group: '', resource: 'namespaces' });
    for (const resource of this.server.informed.values()) if (resource.resource !== 'namespaces') await this.#loadAll(resource);
    for (const resource of exceptions) await this.#loadAll(resource);
    for (const plugin of plugins) if (readByPlugins[plugin]) await this.#loadAll(readByPlugins[plugin]);
    const callsWebhooks = plugins.includes(webhookPlugin);
    if (callsWebhooks) await this.#loadAll(services);
    const stored = [policies, bindings, ...(callsWebhooks ? [webhooks] : [])];
    const placed = given.map((object) => this.#placed(object));
    const used = given.length > 0 ? await this.#withBindings(placed) : (await Promise.all(stored.map((one) => this.#all(one)))).flat();
    const isOfPolicies = (object: KubeObject): boolean => isPolicy(object) || isBinding(object) || isWebhooks(object);
    const others = used.filter((object) => !isOfPolicies(object));
    const those = used.filter(isOfPolicies);
    for (const object of others) await this.#store(object, 'as it is');
    for (const policy of those) await this.#loadParams(policy as Policy<ValidatingPolicySpec>, others);
    // Expressions with an authorizer are evaluated by the roles of the cluster.
    if (JSON.stringify(those).includes('authorizer')) for (const resource of roles) await this.#loadAll(resource);
    for (const object of those) await this.#store(object, given.length > 0 ? 'as new' : 'as it is');
    return [...those.filter(isPolicy).map(nameOf), ...those.filter(isWebhooks).flatMap(webhookNamesOf)];
  }

  /** Returns a given object in the namespace in which kubectl creates one that names none. */
  #placed(object: KubeObject): KubeObject {
    const resource = this.#findKind({ ...parseGroupVersion(object.apiVersion), kind: object.kind });
    const isNamespaced = resource && this.server.endpointOf(resource)?.definition.namespaced;
    return isNamespaced ? { ...object, metadata: { namespace: 'default', ...object.metadata } } : object;
  }

  /**
   * Completes given policies and bindings. A policy without a given binding gets those of the cluster, or else one that denies in the whole
   * cluster; a binding without a given policy gets that of the cluster.
   */
  async #withBindings(given: readonly KubeObject[]): Promise<KubeObject[]> {
    const givenPolicies = new Set(given.filter(isPolicy).map(nameOf));
    const bound = new Set(given.filter(isBinding).map(policyNameOf));
    const ofCluster = await this.#all(bindings);
    const added = [...givenPolicies]
      .filter((policy) => !bound.has(policy))
      .flatMap((policy) => {
        const own = ofCluster.filter((binding) => policyNameOf(binding) === policy);
        return own.length > 0 ? own : [denyingBinding(policy)];
      });
    const isMissing = (policy: KubeObject): boolean => bound.has(nameOf(policy)) && !givenPolicies.has(nameOf(policy));
    const others = bound.size > 0 ? (await this.#all(policies)).filter(isMissing) : [];
    return [...given, ...others, ...added];
  }

  async #loadDefinitions(): Promise<void> {
    const resource = this.#find(definitions);
    const endpoint = resource && this.server.endpointOf(resource);
    if (!endpoint) return;
    const served: Promise<boolean>[] = [];
    for await (const definition of this.cluster.objects(resource)) {
      await this.server.put(endpoint, definition);
      const { group, names, versions } = (definition as unknown as { readonly spec: DefinitionSpec }).spec;
      for (const { name } of versions.filter((version) => version.served).slice(0, 1))
        if (this.#find({ group, resource: names.plural }))
          served.push(this.server.whenServed({ group, version: name, resource: names.plural }));
    }
    await Promise.all(served);
  }

  /** Loads the objects of the kind of a policy's parameters; those that are given are already there. */
  async #loadParams({ spec }: Policy<ValidatingPolicySpec>, given: readonly KubeObject[]): Promise<void> {
    const { apiVersion = '', kind = '' } = spec?.paramKind ?? {};
    if (kind === '') return;
    const { group, version } = parseGroupVersion(apiVersion);
    const found = this.#findKind({ group, version, kind });
    const endpoint = found && this.server.endpointOf(found);
    if (!endpoint) return;
    const isGiven = (object: KubeObject): boolean =>
      given.some(
        ({ kind: other, metadata: { name, namespace } }) =>
          other === kind && name === object.metadata.name && namespace === object.metadata.namespace,
      );
    for await (const object of this.cluster.objects(found)) if (!isGiven(object)) await this.server.put(endpoint, object);
  }

  /** Stores an object as it is, or as a new one with the defaults and checks of the API. */
  async #store(object: KubeObject, form: 'as it is' | 'as new'): Promise<void> {
    const kind = { ...parseGroupVersion(object.apiVersion), kind: object.kind };
    const resource = this.#findKind(kind);
    const endpoint = resource && this.server.endpointOf(resource);
    if (!resource || !endpoint) throw new Error(`unknown kind ${object.kind} in ${object.apiVersion}`);
    if (form === 'as it is') return this.server.put(endpoint, object);
    const { resourceVersion: _, ...metadata } = object.metadata;
    await this.server.create(resource, { ...object, metadata });
  }

  async #loadAll(wanted: { readonly group: string; readonly resource: string }): Promise<void> {
    const resource = this.#find(wanted);
    const endpoint = resource && this.server.endpointOf(resource);
    if (endpoint) for await (const object of this.cluster.objects(resource)) await this.server.put(endpoint, object);
  }

  async #all(wanted: { readonly group: string; readonly resource: string }): Promise<KubeObject[]> {
    const resource = this.#find(wanted);
    const all: KubeObject[] = [];
    if (resource) for await (const object of this.cluster.objects(resource)) all.push(object);
    return all;
  }

  /** Returns the first version of a resource that this server knows, too. */
  #find({ group, resource }: { readonly group: string; readonly resource: string }): ClusterResource | undefined {
    const versions = this.resources.filter((one) => one.group === group && one.resource === resource);
    return versions.find((one) => this.server.endpointOf(one)) ?? versions[0];
  }

  #findKind({ group, version, kind }: GroupVersionKind): ClusterResource | undefined {
    return this.resources.find((one) => one.group === group && one.version === version && one.kind === kind);
  }
}

function isPolicy({ apiVersion, kind }: KubeObject): boolean {
  return apiVersion.startsWith(`${policyGroup}/`) && kind === 'ValidatingAdmissionPolicy';
}

/** True for a configuration of validating webhooks. */
export function isWebhooks({ apiVersion, kind }: KubeObject): boolean {
  return apiVersion.startsWith(`${policyGroup}/`) && kind === 'ValidatingWebhookConfiguration';
}

function webhookNamesOf(configuration: KubeObject): string[] {
  const { webhooks: all = [] } = configuration as KubeObject & { readonly webhooks?: readonly { readonly name: string }[] };
  return all.map(({ name }) => `${nameOf(configuration)}/${name}`);
}

function isBinding({ apiVersion, kind }: KubeObject): boolean {
  return apiVersion.startsWith(`${policyGroup}/`) && kind === 'ValidatingAdmissionPolicyBinding';
}

function nameOf({ metadata }: KubeObject): string {
  return metadata.name ?? '';
}

function policyNameOf(binding: KubeObject): string {
  return (binding as PolicyBinding).spec?.policyName ?? '';
}

function denyingBinding(policyName: string): KubeObject {
  return {
    apiVersion: `${policyGroup}/v1`,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: policyName },
    spec: { policyName, validationActions: ['Deny'] },
  } as KubeObject;
}
