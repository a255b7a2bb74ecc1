import { Quantity, quote } from 'kubenest/sdk';
import type { Container, ObjectFieldSelector, Pod, ResourceFieldSelector } from 'kubenest/types/core_v1';
import { UnsupportedScriptError } from '../shell/script.ts';
import { spendWork, workOfText } from '../shell/work.ts';
import type { ClusterSources } from './cluster-sources.ts';
import type { FileStore } from './file-store.ts';

/** Largest length of the environment of a process, and of its command line. Upstream: ARG_MAX of Linux is 2 MiB for both. */
const maxLength = 1_048_576;

/** Name of the host as the processes of the pod see it. */
export function hostnameOf({ spec, metadata }: Pod): string {
  return spec?.hostname ?? metadata.name ?? '';
}

/** Names of the pod's address in /etc/hosts: with a subdomain also that by which the pods of a StatefulSet find each other. */
export function hostNamesOf(pod: Pod): string[] {
  const { spec, metadata } = pod;
  const hostname = hostnameOf(pod);
  return spec?.subdomain ? [`${hostname}.${spec.subdomain}.${metadata.namespace}.svc.cluster.local`, hostname] : [hostname];
}

/**
 * Environment variables of a container: plain values and fields of the pod, after those of services, secrets, config maps
 * and resources. Throws UnsupportedScriptError for an environment that no kernel takes.
 */
export function environmentOf(pod: Pod, container: Container, store: FileStore): Record<string, string> {
  const values = new Map<string, string>();
  const size = new Size();
  const set = (name: string, value: string): void => {
    size.add(name.length + value.length);
    spendWork(workOfText(value));
    values.set(name, value);
  };
  set('PATH', '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin');
  set('HOSTNAME', hostnameOf(pod));
  set('HOME', '/root');
  for (const variables of [store.services(pod, container), store.sources(pod, container).env])
    for (const [name, value] of Object.entries(variables)) set(name, value);
  for (const { name, value, valueFrom } of container.env ?? []) {
    if (name === undefined) continue;
    const field = valueFrom?.fieldRef && podField(pod, valueFrom.fieldRef);
    if (field !== undefined) set(name, field);
    else if (!valueFrom) set(name, expandReferences(value ?? '', values));
  }
  return Object.fromEntries(values);
}

/** Command line of a container, with its references to variables expanded. Throws UnsupportedScriptError for one that no kernel takes. */
export function commandOf({ command = [], args = [] }: Container, env: Readonly<Record<string, string>>): string[] {
  const values = new Map(Object.entries(env));
  const size = new Size();
  return [...command, ...args].map((word) => {
    const expanded = expandReferences(word, values);
    size.add(expanded.length);
    spendWork(workOfText(expanded));
    return expanded;
  });
}

/** Counts the length of texts. Throws UnsupportedScriptError above the maximum. */
class Size {
  #length = 0;

  add(length: number): void {
    this.#length += length;
    if (this.#length > maxLength) throw new UnsupportedScriptError('the argument list is too long');
  }
}

/** Replaces `$(NAME)`; `$$` stands for a dollar sign. Upstream: kubernetes/third_party/forked/golang/expansion. */
function expandReferences(text: string, values: ReadonlyMap<string, string>): string {
  const size = new Size();
  return text.replace(/\$\$|\$\(([A-Za-z_][\w.-]*)\)/g, (reference, name?: string) => {
    const value = name === undefined ? '$' : (values.get(name) ?? reference);
    size.add(value.length);
    return value;
  });
}

const pairs = (entries: Readonly<Record<string, string>> = {}): string =>
  Object.keys(entries)
    .sort()
    .map((key) => `${key}=${quote(entries[key] as string)}`)
    .join('\n');

/** Fields of the downward API by path. Each is computed only if it is read: annotations may have 256 KiB. */
const fields: ReadonlyMap<string, (pod: Pod) => string | undefined> = new Map<string, (pod: Pod) => string | undefined>([
  ['metadata.name', ({ metadata }) => metadata.name],
  ['metadata.namespace', ({ metadata }) => metadata.namespace],
  ['metadata.uid', ({ metadata }) => metadata.uid],
  ['metadata.labels', ({ metadata }) => pairs(metadata.labels)],
  ['metadata.annotations', ({ metadata }) => pairs(metadata.annotations)],
  ['spec.nodeName', ({ spec }) => spec?.nodeName],
  ['spec.serviceAccountName', ({ spec }) => spec?.serviceAccountName],
  ['status.hostIP', ({ status }) => status?.hostIP],
  ['status.hostIPs', ({ status }) => status?.hostIPs?.map(({ ip }) => ip).join(',')],
  ['status.podIP', ({ status }) => status?.podIP],
  ['status.podIPs', ({ status }) => status?.podIPs?.map(({ ip }) => ip).join(',')],
]);

/** Returns the value of a field of the downward API; undefined if the pod does not have it. Upstream: kubernetes/pkg/fieldpath. */
export function podField(pod: Pod, { fieldPath = '' }: ObjectFieldSelector): string | undefined {
  const [, map, key] = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(fieldPath) ?? [];
  if (map === undefined) return fields.get(fieldPath)?.(pod);
  const entries = pod.metadata[map as 'labels' | 'annotations'] ?? {};
  return key !== undefined && Object.hasOwn(entries, key) ? entries[key] : '';
}

/** Resources whose limit is what the node can allocate, unless the container has a limit. */
const allocatableResources: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);

/**
 * Returns the request or limit of a container in units of the divisor, rounded up. `ownName` is the container if the selector names none.
 * Upstream: kubernetes/pkg/api/v1/resource (ExtractContainerResourceValue).
 */
export function resourceField(
  { spec }: Pod,
  { containerName, resource = '', divisor = '1' }: ResourceFieldSelector,
  ownName: string | undefined,
  cluster: ClusterSources,
): string | undefined {
  const name = containerName || ownName;
  const container = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].find((one) => one.name === name);
  const [, kind, amount = ''] = /^(limits|requests)\.(.+)$/.exec(resource) ?? [];
  if (!container || kind === undefined) return undefined;
  const limit = kind === 'limits' && allocatableResources.has(amount) ? cluster.allocatable(spec?.nodeName ?? '')[amount] : undefined;
  const value = Quantity.parse(container.resources?.[kind as 'limits' | 'requests']?.[amount] ?? limit ?? '0');
  const unit = Quantity.parse(divisor === '0' ? '1' : divisor);
  const [total, each] = amount === 'cpu' ? [value.milliValue(), unit.milliValue()] : [value.value(), unit.value()];
  return each === 0n ? undefined : String((total + each - 1n) / each);
}
