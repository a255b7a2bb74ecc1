import { quote } from 'kubenest/sdk';
import type { Container, ObjectFieldSelector, Pod } from 'kubenest/types/core_v1';

/** Name of the host as the processes of the pod see it. */
export function hostnameOf({ spec, metadata }: Pod): string {
  return spec?.hostname ?? metadata.name ?? '';
}

/**
 * Environment variables of a container: plain values and fields of the pod, after the variables of `sources`. References to secrets and config
 * maps are in `sources`, if at all.
 */
export function environmentOf(pod: Pod, container: Container, sources: Readonly<Record<string, string>> = {}): Record<string, string> {
  const values = new Map(
    Object.entries({
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      HOSTNAME: hostnameOf(pod),
      HOME: '/root',
      ...sources,
    }),
  );
  for (const { name, value, valueFrom } of container.env ?? []) {
    if (name === undefined) continue;
    const field = valueFrom?.fieldRef && podField(pod, valueFrom.fieldRef);
    if (field !== undefined) values.set(name, field);
    else if (!valueFrom) values.set(name, expandReferences(value ?? '', values));
  }
  return Object.fromEntries(values);
}

/** Command line of a container, with its references to variables expanded. */
export function commandOf({ command = [], args = [] }: Container, env: Readonly<Record<string, string>>): string[] {
  const values = new Map(Object.entries(env));
  return [...command, ...args].map((word) => expandReferences(word, values));
}

/** Replaces `$(NAME)`; `$$` stands for a dollar sign. Upstream: kubernetes/third_party/forked/golang/expansion. */
function expandReferences(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(/\$\$|\$\(([A-Za-z_][\w.-]*)\)/g, (reference, name?: string) =>
    name === undefined ? '$' : (values.get(name) ?? reference),
  );
}

/** Returns the value of a field of the downward API; undefined if the pod does not have it. Upstream: kubernetes/pkg/fieldpath. */
export function podField({ metadata, spec, status }: Pod, { fieldPath = '' }: ObjectFieldSelector): string | undefined {
  const [, map, key] = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(fieldPath) ?? [];
  if (map !== undefined) {
    const entries = metadata[map as 'labels' | 'annotations'] ?? {};
    return key !== undefined && Object.hasOwn(entries, key) ? entries[key] : '';
  }
  const pairs = (entries: Readonly<Record<string, string>> = {}): string =>
    Object.keys(entries)
      .sort()
      .map((key) => `${key}=${quote(entries[key] as string)}`)
      .join('\n');
  const fields: Readonly<Record<string, string | undefined>> = {
    'metadata.name': metadata.name,
    'metadata.namespace': metadata.namespace,
    'metadata.uid': metadata.uid,
    'metadata.labels': pairs(metadata.labels),
    'metadata.annotations': pairs(metadata.annotations),
    'spec.nodeName': spec?.nodeName,
    'spec.serviceAccountName': spec?.serviceAccountName,
    'status.hostIP': status?.hostIP,
    'status.hostIPs': status?.hostIPs?.map(({ ip }) => ip).join(','),
    'status.podIP': status?.podIP,
    'status.podIPs': status?.podIPs?.map(({ ip }) => ip).join(','),
  };
  return Object.hasOwn(fields, fieldPath) ? fields[fieldPath] : undefined;
}
