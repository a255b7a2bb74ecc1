// How long each list and each map of each built-in kind, as long as fits a body, keeps a server from answering others when an object with it is
// created: the longest turn of the event loop in milliseconds of the processor, the time of the whole, the number of items and the status. Most
// of these objects are not valid, and validation looks at every item. Prints those of more than --over milliseconds, and how many there are.
//   npm run build && node test/bench/long-lists.mjs [--over 250] [--only REGEX]
import { parseArgs } from 'node:util';
import { startTestCluster } from 'kubenest/testing';
import { longestTurn } from '../security/longest-turn.ts';

const bodyBytes = 2_800_000;
const { values } = parseArgs({ options: { over: { type: 'string', default: '250' }, only: { type: 'string', default: '.' } } });
/** Of strings, those that name an item or are compared; all that is required comes as well. */
const tellingFields =
  /^(name|key|type|uid|ip|host|path|kind|value|mountPath|devicePath|operator|topologyKey|resource|cidr|driver|request|device|protocol)$/;
const reference = '#/definitions/'.length;

/** A JSON value of a schema that differs from those of other numbers where items are told apart. */
function valueOf(definitions, schema, number, depth = 0) {
  if (schema.$ref) {
    const definition = definitions[schema.$ref.slice(reference)];
    if (schema.$ref.endsWith('IntOrString')) return number % 60_000;
    if (!definition.properties) return definition.type === 'string' ? `x${number}` : {};
    const fields = Object.entries(definition.properties).filter(
      ([name, field]) => definition.required?.includes(name) || (field.type === 'string' && tellingFields.test(name)),
    );
    return Object.fromEntries(depth > 3 ? [] : fields.map(([name, field]) => [name, valueOf(definitions, field, number, depth + 1)]));
  }
  if (schema.type === 'string') return schema.format === 'date-time' ? '2026-01-01T00:00:00Z' : `x${number}`;
  if (schema.type === 'integer' || schema.type === 'number') return number % 65_000;
  if (schema.type === 'boolean') return true;
  return schema.type === 'array' ? [valueOf(definitions, schema.items, number, depth + 1)] : {};
}

/** Each list and map that a type of the API has, once, with the way to it; 0 stands for the item of a list. */
function* containersOf({ definitions, paths }) {
  const seen = new Set();
  function* within(type, path, kind, trail) {
    if (seen.has(type)) return;
    seen.add(type);
    for (const [name, field] of Object.entries(definitions[type]?.properties ?? {})) {
      const items = field.type === 'array' ? field.items : field.additionalProperties;
      const next = [...trail, name];
      if (items) yield { name: `${type}.${name}`, path, kind, trail: next, items, isMap: field.type !== 'array' };
      const inner = field.$ref ?? (field.type === 'array' ? items.$ref : undefined);
      if (inner) yield* within(inner.slice(reference), path, kind, field.$ref ? next : [...next, 0]);
    }
  }
  for (const [path, { post }] of Object.entries(paths)) {
    const type = post?.parameters?.find((parameter) => parameter.in === 'body')?.schema?.$ref;
    const kind = post?.['x-kubernetes-group-version-kind'];
    if (type && kind && !path.includes('{name}')) yield* within(type.slice(reference), path.replace('{namespace}', 'default'), kind, []);
  }
}

function bodyOf(definitions, { kind, trail, items, isMap }) {
  const parts = [];
  for (let size = 0; size < bodyBytes; size += parts.at(-1).length + 1) {
    parts.push(`${isMap ? `"k${parts.length}":` : ''}${JSON.stringify(valueOf(definitions, items, parts.length))}`);
  }
  let body = isMap ? `{${parts.join()}}` : `[${parts.join()}]`;
  for (const step of trail.toReversed()) body = step === 0 ? `[${body}]` : `{${JSON.stringify(step)}:${body}}`;
  const named = body.startsWith('{"metadata":{')
    ? body.replace('{"metadata":{', '{"metadata":{"name":"a",')
    : `{"metadata":{"name":"a"},${body.slice(1)}`;
  const apiVersion = kind.group ? `${kind.group}/${kind.version}` : kind.version;
  return { count: parts.length, body: `{"apiVersion":"${apiVersion}","kind":"${kind.kind}",${named.slice(1)}` };
}

await using cluster = await startTestCluster({ quiet: true });
const document = await (await cluster.fetch('/openapi/v2', { headers: { accept: 'application/json' } })).json();
let all = 0;
let over = 0;
for (const container of containersOf(document)) {
  if (!new RegExp(values.only).test(container.name)) continue;
  all += 1;
  const { count, body } = bodyOf(document.definitions, container);
  const began = performance.now();
  let status = 0;
  const turn = await longestTurn(async () => {
    const response = await cluster.fetch(container.path, { body });
    ({ status } = response);
    await response.text();
  });
  const took = performance.now() - began;
  if (status < 300) await (await cluster.fetch(`${container.path}/a`, { method: 'DELETE' })).text();
  if (turn <= Number(values.over)) continue;
  over += 1;
  console.log(container.name.padEnd(90), turn.toFixed(0).padStart(6), took.toFixed(0).padStart(7), String(count).padStart(7), status);
}
console.log(`${over} of ${all} longer than ${values.over} ms`);
