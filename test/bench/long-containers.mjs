// Bodies with one list or map of maximum length, for the benchmarks of long lists.
const bodyBytes = 2_800_000;
/** Strings that identify items or are compared; required fields are always included. */
const identifyingFields =
  /^(name|key|type|uid|ip|host|path|kind|value|mountPath|devicePath|operator|topologyKey|resource|cidr|driver|request|device|protocol)$/;
const reference = '#/definitions/'.length;

/** Returns a JSON value of a schema; values with different numbers differ in their identifying fields. */
function valueOf(definitions, schema, number, depth = 0) {
  if (schema.$ref) {
    const definition = definitions[schema.$ref.slice(reference)];
    if (schema.$ref.endsWith('IntOrString')) return number % 60_000;
    if (schema.$ref.endsWith('Quantity')) return String(number);
    if (!definition.properties) return definition.type === 'string' ? valueOf(definitions, definition, number, depth) : {};
    const fields = Object.entries(definition.properties).filter(
      ([name, field]) => definition.required?.includes(name) || (field.type === 'string' && identifyingFields.test(name)),
    );
    return Object.fromEntries(depth > 3 ? [] : fields.map(([name, field]) => [name, valueOf(definitions, field, number, depth + 1)]));
  }
  if (schema.format === 'byte') return Buffer.from(`x${number}`).toString('base64');
  if (schema.type === 'string') return schema.format === 'date-time' ? '2026-01-01T00:00:00Z' : `x${number}`;
  if (schema.type === 'integer' || schema.type === 'number') return number % 65_000;
  if (schema.type === 'boolean') return true;
  return schema.type === 'array' ? [valueOf(definitions, schema.items, number, depth + 1)] : {};
}

/** Yields each list and map of the API's types once, with its path; 0 stands for the item of a list. */
export function* containersOf({ definitions, paths }) {
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

export function bodyOf(definitions, { kind, trail, items, isMap }) {
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
