/** The converged objects and the events of a scenario, without what differs from run to run. */
export interface Outcome {
  readonly objects: readonly object[];
  readonly events: readonly string[];
}

export interface CollectedObject {
  readonly kind: string;
  readonly object: object;
}

type Json = Record<string, unknown>;

/** Replacements in all strings. The order matters: names of CronJobs' Jobs precede those of their pods. */
const replacements: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'UID'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, 'TIME'],
  [/\b(kwok-[0-2]|node-[1-3])\b/g, 'NODE'],
  [/\b10\.\d+\.\d+\.\d+\b/g, 'ADDRESS'],
  // The minutes since 1970 in the name of a CronJob's Job.
  [/-\d{8}\b/g, '-MINUTES'],
  // The type checker of policies makes the names of types unique by the time in nanoseconds.
  [/\b([A-Z][A-Za-z]+)\d+(?=\.(metadata|spec|status)\b)/g, '$1'],
  // Suffixes of generated names have upstream's alphabet (k8s.io/apimachinery/pkg/util/rand).
  [/-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '-*'],
];

const dropped = {
  metadata: ['managedFields', 'creationTimestamp', 'selfLink'],
  /** Set from the time of the trigger that the controller happened to see first. */
  annotations: ['endpoints.kubernetes.io/last-change-trigger-time'],
};

/**
 * Behaviour of kwok that is not a kubelet's, with the parts that are therefore not compared. Pods that no node runs are compared whole.
 */
export const kwokDifferences = [
  {
    part: 'containerStatuses, initContainerStatuses, podIP, podIPs, hostIP, hostIPs and startTime of pods',
    reason: "kwok's stages write them from templates",
  },
  {
    part: 'conditions of pods on nodes other than DisruptionTarget',
    reason: 'kwok sets no observedGeneration, no PodReadyToStartContainers and, on pods that no scheduler placed, no PodScheduled',
  },
  { part: 'status of nodes', reason: 'kwok writes that of each node' },
  { part: 'events of kubelets (Pulled, Created, Started, Killing)', reason: 'kwok emits none' },
  { part: 'observedGeneration of the status of pods on nodes', reason: 'kwok does not set it' },
] as const;

const notComparedOfPods = [
  'containerStatuses',
  'initContainerStatuses',
  'podIP',
  'podIPs',
  'hostIP',
  'hostIPs',
  'startTime',
  'observedGeneration',
];

export function normalise(collected: readonly CollectedObject[], events: readonly CollectedObject[]): Outcome {
  const objects = collected.filter((item) => !isOfEveryNamespace(item)).map(normaliseObject);
  return { objects: countEqual(objects), events: [...new Set(events.flatMap(eventLine))].sort() };
}

/** Every namespace has these two; only scenarios that name them compare them, under other names. */
function isOfEveryNamespace({ kind, object }: CollectedObject): boolean {
  const { name } = (object as { metadata: { name: string } }).metadata;
  return kind === 'ConfigMap' && name === 'kube-root-ca.crt';
}

function normaliseObject({ kind, object }: CollectedObject): Json {
  const copy = structuredClone(object) as Json;
  const metadata = copy['metadata'] as Json;
  for (const key of dropped.metadata) delete metadata[key];
  const annotations = metadata['annotations'] as Json | undefined;
  for (const key of dropped.annotations) delete annotations?.[key];
  if (annotations !== undefined && Object.keys(annotations).length === 0) delete metadata['annotations'];
  delete copy['apiVersion'];
  delete copy['kind'];
  if (kind === 'Node') delete copy['status'];
  if (kind === 'Pod') reducePod(copy);
  if (kind === 'Secret') hideToken(copy);
  return replaceStrings({ kind, ...copy }) as Json;
}

function reducePod(pod: Json): void {
  const spec = pod['spec'] as Json;
  const status = pod['status'] as Json;
  if (spec['nodeName'] === undefined) return;
  for (const key of notComparedOfPods) delete status[key];
  const conditions = (status['conditions'] ?? []) as { type: string }[];
  status['conditions'] = conditions.filter(({ type }) => type === 'DisruptionTarget');
}

/** Keys and certificates differ from server to server. */
function hideToken(secret: Json): void {
  const data = (secret['data'] ?? {}) as Json;
  for (const key of ['token', 'ca.crt']) if (data[key] !== undefined) data[key] = 'DATA';
}

/** Lists that are sets: their order depends on the timing of the controllers. */
const sets = ['conditions', 'endpoints', 'addresses', 'notReadyAddresses', 'subsets', 'uncountedTerminatedPods'];

function replaceStrings(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return replaceAll(value);
  if (Array.isArray(value)) {
    const items = value.map((item) => replaceStrings(item));
    return sets.includes(name) ? items.sort(byText) : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  // References have resource versions, too.
  const { resourceVersion: _, ...compared } = value as Json;
  const entries = Object.entries(compared).map(([key, item]) => [replaceAll(key), replaceStrings(item, key)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function replaceAll(text: string): string {
  return replacements.reduce((replaced, [pattern, replacement]) => replaced.replaceAll(pattern, replacement), text);
}

/** Objects that are equal except for their generated names are one, with their number. */
function countEqual(objects: readonly Json[]): object[] {
  const counts = new Map<string, number>();
  for (const object of objects) counts.set(JSON.stringify(object), (counts.get(JSON.stringify(object)) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([text, count]) => ({ count, object: JSON.parse(text) as object }));
}

/** Returns none for the events of kubelets. Repetitions depend on timing, so their number is not compared. */
function eventLine({ object }: CollectedObject): string[] {
  const event = object as EventObject;
  const component = event.source?.component || event.reportingComponent || '';
  if (component === 'kubelet' || component === 'kwok') return [];
  const { kind, name } = event.involvedObject;
  return [replaceAll(`${component}: ${event.type} ${event.reason} ${kind}/${name}: ${event.message}`)];
}

interface EventObject {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly source?: { readonly component?: string };
  readonly reportingComponent?: string;
  readonly involvedObject: { readonly kind: string; readonly name: string };
}

function byText(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}
