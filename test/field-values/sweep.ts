import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { bases, name, namespace } from './bases.ts';
import { random } from '../fault/random.ts';
import { type FieldPath, formatPath, type Json, KindSchema, type Schema } from './values.ts';

/** Sends dry runs with one unusual value in one field, and reduces the responses to what does not depend on time or chance. */

export interface Swept {
  readonly status: number;
  readonly body: unknown;
}
/** Flags of both servers. */
export const flags = ['--disable-admission-plugins=ServiceAccount'];

export type Ask = (path: string, options?: { method?: string; body?: object; contentType?: string }) => Promise<Swept>;

/** Share of the fields that are tested, by verb; below templates of pods, which are tested as pods, a twentieth of it. */
const verbs = { create: 0.4, apply: 0.2, update: 0.2, merge: 0.1, strategic: 0.1 } as const;
type Verb = keyof typeof verbs;
const templateShare = 0.05;

export interface Request {
  readonly kind: string;
  readonly verb: Verb;
  /** `spec.ports.0.port=-1`. */
  readonly place: string;
  readonly path: string;
  readonly method: string;
  readonly contentType: string;
  readonly body: Json;
}

interface Resource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Creates the base objects, and returns all requests. */
export async function prepare(ask: Ask): Promise<Request[]> {
  const create = (path: string, body: object) => ask(path, { method: 'POST', body });
  await create('/api/v1/namespaces', { metadata: { name: namespace } });
  await create(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'default' } });
  const requests: Request[] = [];
  for (const [form, base] of Object.entries(bases)) {
    const [apiVersion = '', kind = ''] = form.split(' ');
    const root = apiVersion === 'v1' ? 'api/v1' : `apis/${apiVersion}`;
    const { resources } = (await ask(`/${root}`)).body as { resources: Resource[] };
    const resource = resources.find((one) => one.kind === kind && !one.name.includes('/'))!;
    const path = `/${root}${resource.namespaced ? `/namespaces/${namespace}` : ''}/${resource.name}`;
    const object = { metadata: { name }, ...base, apiVersion, kind };
    const isStored = !kind.endsWith('Review') && (await create(path, object)).status === 201;
    // Conditions of a definition follow its creation.
    if (kind === 'CustomResourceDefinition') await established(ask, `${path}/${object.metadata.name}`);
    const schema = kindSchema((await ask(`/openapi/v3/${root}`)).body, apiVersion, kind);
    for (const field of schema.paths()) requests.push(...requestsOf(form, schema, field, { object, path, isStored }));
  }
  return requests;
}

async function established(ask: Ask, path: string): Promise<void> {
  for (;;) {
    const { status } = (await ask(path)).body as { status?: { conditions?: readonly { type: string; status: string }[] } };
    if (status?.conditions?.some((condition) => condition.type === 'Established' && condition.status === 'True')) return;
    await setTimeout(50);
  }
}

function kindSchema(document: unknown, apiVersion: string, kind: string): KindSchema {
  const { schemas } = (document as { components: { schemas: Record<string, Schema> } }).components;
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const root = Object.values(schemas).find((schema) =>
    schema['x-kubernetes-group-version-kind']?.some((one) => one.group === group && one.version === version && one.kind === kind),
  );
  return new KindSchema(schemas, root!);
}

interface Target {
  readonly object: Json & { readonly metadata: Json };
  readonly path: string;
  readonly isStored: boolean;
}

function* requestsOf(kind: string, schema: KindSchema, path: FieldPath, target: Target): Generator<Request> {
  const field = path.at(-1);
  if (!field || 'item' in field) return;
  const text = formatPath(path);
  const isTemplate = text.includes('emplate.spec.') || kind === 'v1 PodTemplate';
  for (const [verb, share] of Object.entries(verbs) as [Verb, number][]) {
    const seed = createHash('sha256').update(`${kind} ${verb} ${text}`).digest().readUInt32LE();
    if (random(seed)(1_000) >= share * (isTemplate ? templateShare : 1) * 1_000) continue;
    if (verb !== 'create' && !target.isStored) continue;
    // The name is in the path, too.
    if (verb !== 'create' && (text === 'metadata' || text === 'metadata.name')) continue;
    for (const value of schema.values(field.schema, field.field, seed)) {
      const place = `${text}=${JSON.stringify(value).slice(0, 80)}`;
      yield { kind, verb, place, ...requestOf(verb, target, (object) => schema.put(object, path, value)) };
    }
  }
}

function requestOf(
  verb: Verb,
  { object, path, isStored }: Target,
  put: (object: Json) => Json,
): Pick<Request, 'path' | 'method' | 'contentType' | 'body'> {
  const item = `${path}/${object.metadata['name'] as string}?dryRun=All`;
  switch (verb) {
    case 'create':
      return {
        path: isStored ? `${path}?dryRun=All` : path,
        method: 'POST',
        contentType: 'application/json',
        body: put(unnamed(object, isStored)),
      };
    case 'update':
      return { path: item, method: 'PUT', contentType: 'application/json', body: put(object) };
    case 'apply':
      return { path: `${item}&fieldManager=m&force=true`, method: 'PATCH', contentType: 'application/apply-patch+yaml', body: put(object) };
    default:
      return {
        path: item,
        method: 'PATCH',
        contentType: `application/${verb === 'merge' ? '' : 'strategic-'}merge-patch+json`,
        body: put({}),
      };
  }
}

/** A stored object exists, so a new one has another name, if the kind leaves the choice. */
function unnamed(object: Target['object'], isStored: boolean): Json {
  return isStored && object.metadata['name'] === name ? { ...object, metadata: { ...object.metadata, name: 'created' } } : object;
}

/** Returns a digest of a response, without what differs between servers and times. */
export function digestOf({ status, body }: Swept): string {
  return createHash('sha256')
    .update(JSON.stringify([status, normal(body)]))
    .digest('base64url')
    .slice(0, digestLength);
}
export const digestLength = 5;
/** Stands for a response of kube-apiserver that is not always the same. */
export const varying = '-'.repeat(digestLength);

const changing = new Set([
  ...['uid', 'creationTimestamp', 'resourceVersion', 'time', 'clusterIP', 'clusterIPs', 'nodePort', 'healthCheckNodePort'],
]);

export function normal(value: unknown): unknown {
  if (typeof value === 'string') return normalText(value);
  if (Array.isArray(value)) return value.map(normal);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !changing.has(key))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, normal(member)]),
  );
}

function normalText(text: string): string {
  return text
    .replace(/20\d\d-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)/g, (found) => (found.startsWith('2020') ? found : 'now'))
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'uid')
    .replace(/(resourceVersion\\*":\\*")\d+/g, '$1')
    .replace(/(clusterIPs?\\*":\[?\\*")[\d.]+/g, '$1')
    .replace(/kube-api-access-\w{5}/g, 'kube-api-access')
    .replace(/(?<=generate-?)\w{5}\b/g, '');
}
