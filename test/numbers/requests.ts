/**
 * Requests with numbers to both servers, in this order: each literal at each position of a custom resource, in raw content,
 * in patches, in JSON, YAML and CBOR.
 */
import { Buffer } from 'node:buffer';

export interface NumberRequest {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly contentType?: string;
  readonly accept?: string;
  readonly body?: string | Buffer;
  /** Repeats the request until the status is 200. */
  readonly until?: true;
  /** The field whose text is compared; undefined compares only the status. */
  readonly field?: string;
}

export interface NumberAnswer {
  readonly name: string;
  readonly status: number;
  /** Text of the field, or the message of an error. */
  readonly text?: string | undefined;
  readonly warning?: string | undefined;
}

const json = 'application/json';
const merge = 'application/merge-patch+json';
const strategic = 'application/strategic-merge-patch+json';
const jsonPatch = 'application/json-patch+json';
const apply = 'application/apply-patch+yaml';
const yaml = 'application/yaml';
const cbor = 'application/cbor';
const tableType = 'application/json;as=Table;v=v1;g=meta.k8s.io';

const group = 'numbers.test.dev';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const custom = `/apis/${group}/v1/namespaces/default/things`;
const revisions = '/apis/apps/v1/namespaces/default/controllerrevisions';
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const services = '/api/v1/namespaces/default/services';

/** Literals of int64, of float64 with and without a fraction, and at the limits of both. */
const literals = [
  ...['0', '1', '-1', '10', '1000'],
  ...['0.0', '1.0', '-1.0', '10.0', '1e0', '1e3', '1E3', '1.50', '0.5', '2.5', '10.25', '1e-7', '1.5e-3'],
  ...['-0', '-0.0'],
  ...['9007199254740991', '9007199254740993', '9007199254740993.0', '-9007199254740993', '1e16', '1e18'],
  ...['9223372036854775807', '-9223372036854775808', '9223372036854775808', '9223372036854775807.0', '18446744073709551616'],
  ...['1e20', '1e21', '123456789012345678901234567890', '1.7976931348623157e308', '3e39'],
];
/** Literals used for complete histories. */
const few = ['1', '1.0', '-0.0', '0.5', '1.50', '1e3', '9007199254740993', '9007199254740993.0', '1e18', '1e21', '9223372036854775808'];

/** A rule that always fails and reports the type of its value. */
const typeRule = {
  rule: 'self != self',
  messageExpression: `'is ' + (type(self) == int ? 'an int' : type(self) == double ? 'a double' : 'something else')`,
};

const fields: Readonly<Record<string, object>> = {
  int: { type: 'integer' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  num: { type: 'number' },
  float: { type: 'number', format: 'float' },
  double: { type: 'number', format: 'double' },
  text: { type: 'string' },
  any: { 'x-kubernetes-preserve-unknown-fields': true },
  half: { type: 'number', multipleOf: 0.5 },
  two: { type: 'number', multipleOf: 2 },
  intTwo: { type: 'integer', multipleOf: 2 },
  third: { type: 'number', multipleOf: 0.3 },
  min: { type: 'number', minimum: 1 },
  above: { type: 'number', minimum: 1, exclusiveMinimum: true },
  max: { type: 'number', maximum: 1.5 },
  intMax: { type: 'integer', maximum: 10 },
  oneOf: { type: 'number', enum: [1, 2.5, 1000] },
  intOneOf: { type: 'integer', enum: [1, 10] },
  textOneOf: { 'x-kubernetes-preserve-unknown-fields': true, enum: ['1', 'a'] },
  ios: { 'x-kubernetes-int-or-string': true },
  ruledInt: { type: 'integer', 'x-kubernetes-validations': [typeRule] },
  ruledNum: { type: 'number', 'x-kubernetes-validations': [typeRule] },
  ruledIos: { 'x-kubernetes-int-or-string': true, 'x-kubernetes-validations': [typeRule] },
  ruledParent: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { 'x-kubernetes-preserve-unknown-fields': true } },
    'x-kubernetes-validations': [{ rule: 'self.a == 1.0', message: 'a is not 1' }],
  },
  map: { type: 'object', additionalProperties: { type: 'number', multipleOf: 0.5 } },
  set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'number' } },
  keyed: {
    type: 'array',
    maxItems: 5,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
    items: { type: 'object', required: ['k'], properties: { k: { type: 'integer' }, v: { type: 'number' } } },
  },
  either: { 'x-kubernetes-preserve-unknown-fields': true, anyOf: [{ maximum: 5 }, { enum: [10] }] },
  embedded: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-embedded-resource': true },
};

function definition(name: string, spec: object, version: object = {}): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${name}s.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: `${name}s`, singular: name, kind: name.replace(/^./, (c) => c.toUpperCase()), listKind: `${name}List` },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } }, ...version },
      ],
    },
  };
}

const column = (type: string, jsonPath: string): object => ({ name: `${type}${jsonPath}`, type, jsonPath });
const things = definition(
  'thing',
  { type: 'object', properties: fields },
  {
    subresources: { scale: { specReplicasPath: '.spec.int', statusReplicasPath: '.status.replicas' } },
    additionalPrinterColumns: ['integer', 'number', 'string', 'boolean', 'date'].map((type) => column(type, '.spec.any')),
  },
);

const object = (name: string, spec: string): string =>
  `{"apiVersion":"${group}/v1","kind":"Thing","metadata":{"name":"${name}"},"spec":${spec}}`;
const revision = (name: string, data: string): string =>
  `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"${name}"},"data":${data},"revision":1}`;
const template = `{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`;
const deployment = (name: string, replicas: string): string =>
  `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"${name}"},"spec":{"replicas":${replicas},"selector":{"matchLabels":{"a":"b"}},"template":${template}}}`;
const pod = (name: string, cpu: string): string =>
  `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"${name}"},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":${cpu}}}}]}}`;
const service = (name: string, port: string, more = ''): string =>
  `{"apiVersion":"v1","kind":"Service","metadata":{"name":"${name}"},"spec":{"ports":[{"name":"x","port":${port}${more}}]}}`;

const post = (name: string, path: string, body: string | Buffer, field?: string, more: Partial<NumberRequest> = {}): NumberRequest => ({
  name,
  method: 'POST',
  path,
  contentType: json,
  body,
  ...(field !== undefined && { field }),
  ...more,
});
const send = (name: string, contentType: string, path: string, body: string | Buffer, field?: string): NumberRequest =>
  post(name, path, body, field, { method: contentType === json ? 'PUT' : 'PATCH', contentType });
const get = (name: string, path: string, field: string, accept?: string): NumberRequest => ({
  name,
  method: 'GET',
  path,
  field,
  ...(accept !== undefined && { accept }),
});

/** Requests with a literal in metadata, which is decoded by type. */
function inMetadata(literal: string): NumberRequest[] {
  const meta = `{"name":"a","generation":${literal},"deletionGracePeriodSeconds":${literal}}`;
  const embedded = `{"embedded":{"apiVersion":"v1","kind":"A","metadata":${meta}}}`;
  return [
    post(`${literal} in metadata`, dry(custom), object('a', '{}').replace('{"name":"a"}', meta), 'generation'),
    post(`${literal} in embedded metadata`, dry(custom), object('a', embedded), 'embedded'),
    post(`${literal} in a name`, dry(custom), object('a', '{}').replace('"a"', literal)),
    post(`${literal} as a spec`, dry(custom), object('a', literal)),
    post(`${literal} in a label`, dry(custom), object('a', '{}').replace('"name":"a"', `"name":"a","labels":{"a":${literal}}`)),
  ];
}

const dry = (path: string): string => `${path}?dryRun=All`;

/** Requests with a literal in each field of a custom resource, as dry runs. */
function inEachField(literal: string): NumberRequest[] {
  const values: Record<string, string> = Object.fromEntries(Object.keys(fields).map((field) => [field, literal]));
  Object.assign(values, { ruledParent: `{"a":${literal},"b":${literal}}`, map: `{"x":${literal}}`, set: `[1,${literal},1000]` });
  Object.assign(values, { keyed: `[{"k":1},{"k":${literal},"v":${literal}}]` });
  Object.assign(values, { embedded: `{"apiVersion":"v1","kind":"A","metadata":{"name":"a"},"n":${literal}}` });
  return Object.entries(values).map(([field, value]) =>
    post(`${literal} in ${field}`, dry(custom), object('a', `{"${field}":${value}}`), 'spec'),
  );
}

/** Requests that write a literal and read the whole stored object. */
function history(literal: string, index: number): NumberRequest[] {
  const name = `h${index}`;
  const path = `${custom}/${name}`;
  const label = (text: string): string => `${literal}: ${text}`;
  const both = `{"any":{"n":${literal}},"num":${literal}}`;
  return [
    post(label('create'), custom, object(name, both), 'spec'),
    get(label('get'), path, 'spec'),
    get(label('get as YAML'), path, 'spec', yaml),
    get(label('get as a table'), path, 'cells', tableType),
    send(label('the same again'), json, path, object(name, both), 'generation'),
    send(label('as 1'), merge, path, '{"spec":{"any":{"n":1},"num":1}}', 'generation'),
    send(label('merge patch'), merge, path, `{"spec":{"any":{"n":${literal}},"num":${literal}}}`, 'generation'),
    send(label('JSON patch replace'), jsonPatch, path, `[{"op":"replace","path":"/spec/any/n","value":${literal}}]`, 'generation'),
    send(label('JSON patch test'), jsonPatch, path, `[{"op":"test","path":"/spec/any/n","value":${literal}}]`, 'generation'),
    send(label('JSON patch test of an object'), jsonPatch, path, `[{"op":"test","path":"/spec/any","value":{"n":${literal}}}]`),
    send(label('JSON patch test of 1'), jsonPatch, path, `[{"op":"test","path":"/spec/any/n","value":1}]`),
    send(label('JSON patch test of 1.0'), jsonPatch, path, `[{"op":"test","path":"/spec/any/n","value":1.0}]`),
    send(label('JSON patch test of what it adds'), jsonPatch, path, jsonPatchOf(literal), 'spec'),
    send(label('apply by another'), apply, `${path}?fieldManager=b`, object(name, both), 'spec'),
    send(label('apply of another value'), apply, `${path}?fieldManager=c`, object(name, '{"num":7}')),
    send(label('apply in JSON of a key'), apply, `${path}?fieldManager=d`, object(name, `{"keyed":[{"k":${literal}}],"set":[${literal}]}`)),
    get(label('its managed fields'), path, 'managedFields'),
    get(label('its scale'), `${path}/scale`, 'spec'),
    send(label('strategic merge patch'), strategic, path, `{"spec":{"any":{"n":${literal}}}}`),
    post(label('create in YAML'), dry(custom), object('y', both), 'spec', { contentType: yaml }),
    post(label('create in YAML, typed by rules'), dry(custom), object('y', `{"ruledInt":${literal}}`), 'spec', { contentType: yaml }),
    post(label('dry run as a table'), dry(custom), object('y', `{"any":${literal}}`), 'cells', { accept: tableType }),
  ];
}

const jsonPatchOf = (literal: string): string =>
  JSON.stringify([
    { op: 'add', path: '/spec/any/m', value: 'LITERAL' },
    { op: 'test', path: '/spec/any/m', value: 'LITERAL' },
    { op: 'copy', from: '/spec/any/m', path: '/spec/any/c' },
    { op: 'test', path: '/spec/any/c', value: 'LITERAL' },
    { op: 'remove', path: '/spec/any/m' },
    { op: 'remove', path: '/spec/any/c' },
  ]).replaceAll('"LITERAL"', literal);

/** Requests with a literal in raw content, which is preserved until a patch parses it. */
function inRawContent(literal: string, index: number): NumberRequest[] {
  const name = `r${index}`;
  const path = `${revisions}/${name}`;
  const label = (text: string): string => `${literal} in raw content: ${text}`;
  const data = `{"b":[${literal}],"a":{"n":${literal}}}`;
  return [
    post(label('create'), revisions, revision(name, data), 'data'),
    get(label('get'), path, 'data'),
    get(label('list'), `${revisions}?fieldSelector=metadata.name=${name}`, 'data'),
    get(label('get as YAML'), path, 'data', yaml),
    send(label('the same again'), json, path, revision(name, data), 'data'),
    send(label('merge patch of a label'), merge, path, '{"metadata":{"labels":{"a":"m"}}}', 'data'),
    send(label('JSON patch of a label'), jsonPatch, path, '[{"op":"add","path":"/metadata/labels","value":{"a":"j"}}]', 'data'),
    send(label('apply of a label'), apply, `${path}?fieldManager=b`, labelled(name), 'data'),
    send(label('strategic merge patch of a label'), strategic, path, '{"metadata":{"labels":{"a":"s"}}}', 'data'),
    send(label('PUT of another'), json, path, revision(name, `{"n":${literal}}`), 'data'),
    post(label('create in YAML'), dry(revisions), revision('y', data), 'data', { contentType: yaml }),
    post(label('apply'), `${revisions}/a${index}?fieldManager=b`, revision(`a${index}`, data), 'data', {
      method: 'PATCH',
      contentType: apply,
    }),
    send(label('merge patch'), merge, `${revisions}/a${index}?dryRun=All`, `{"data":{"x":${literal}}}`, 'data'),
    send(label('JSON patch'), jsonPatch, `${revisions}/a${index}?dryRun=All`, `[{"op":"add","path":"/data/x","value":${literal}}]`, 'data'),
    send(
      label('JSON patch test'),
      jsonPatch,
      `${revisions}/a${index}?dryRun=All`,
      `[{"op":"test","path":"/data/a/n","value":${literal}}]`,
      'data',
    ),
  ];
}

const labelled = (name: string): string =>
  `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"${name}","labels":{"b":"c"}},"revision":1}`;

/** Requests with numbers and quantities of built-in kinds. */
function inBuiltIns(literal: string): NumberRequest[] {
  const label = (text: string): string => `${literal} in a built-in kind: ${text}`;
  const deployed = dry(`${deployments}/d`);
  return [
    post(label('create'), dry(deployments), deployment('x', literal), 'replicas'),
    post(label('create in YAML'), dry(deployments), deployment('x', literal), 'replicas', { contentType: yaml }),
    send(label('merge patch'), merge, deployed, `{"spec":{"replicas":${literal}}}`, 'replicas'),
    send(label('strategic merge patch'), strategic, deployed, `{"spec":{"replicas":${literal}}}`, 'replicas'),
    send(label('JSON patch'), jsonPatch, deployed, `[{"op":"replace","path":"/spec/replicas","value":${literal}}]`),
    send(label('JSON patch test'), jsonPatch, deployed, `[{"op":"test","path":"/spec/replicas","value":${literal}}]`),
    send(label('apply'), apply, `${deployed}&fieldManager=b&force=true`, deployment('d', literal), 'replicas'),
    post(label('a quantity'), dry('/api/v1/namespaces/default/pods'), pod('x', literal), 'limits'),
    post(label('a quantity in YAML'), dry('/api/v1/namespaces/default/pods'), pod('x', literal), 'limits', { contentType: yaml }),
    post(label('an int-or-string'), dry(services), service('x', '80', `,"targetPort":${literal}`), 'targetPort'),
    send(label('a key of a strategic merge'), strategic, dry(`${services}/s`), `{"spec":{"ports":[{"port":${literal},"name":"y"}]}}`),
    send(label('a key of an apply'), apply, `${dry(`${services}/s`)}&fieldManager=b&force=true`, service('s', literal)),
    send(
      label('a deletion by key'),
      strategic,
      dry(`${services}/s`),
      `{"spec":{"ports":[{"$patch":"delete","port":${literal}},{"port":99,"name":"z"}]}}`,
    ),
  ];
}

/** Requests with numbers in a schema and in its defaults. */
function inSchemas(literal: string, index: number): NumberRequest[] {
  const label = (text: string): string => `${literal} in a schema: ${text}`;
  const schema = (place: string): object => ({
    type: 'object',
    properties: { n: { type: 'number', [place]: place === 'enum' ? ['LITERAL', 7] : 'LITERAL' } },
  });
  const body = (place: string): string =>
    JSON.stringify(definition(`s${index}${place.toLowerCase()}`, schema(place))).replaceAll('"LITERAL"', literal);
  return [
    ...['default', 'enum', 'example', 'minimum', 'multipleOf', 'maxLength'].map((place) =>
      post(label(place), dry(definitions), body(place), 'n'),
    ),
  ];
}

/** Returns a CBOR object with the spec `{"any": item}`, or another three-letter field, with the encoded item. */
function cborObject(item: string, field = 'any'): Buffer {
  const text = (value: string): Buffer => Buffer.concat([Buffer.from([0x78, value.length]), Buffer.from(value)]);
  return Buffer.concat([
    Buffer.from([0xd9, 0xd9, 0xf7, 0xa4]),
    ...[
      text('apiVersion'),
      text(`${group}/v1`),
      text('kind'),
      text('Thing'),
      text('metadata'),
      Buffer.from([0xa1]),
      text('name'),
      text('c'),
    ],
    ...[text('spec'), Buffer.from([0xa1]), text(field), Buffer.from(item, 'hex')],
  ]);
}

/** Integers and floats of each width. */
const cborItems = {
  'the integer 1': '01',
  'the integer -1': '20',
  'half precision 1.0': 'f93c00',
  'half precision 0.5': 'f93800',
  'half precision -0.0': 'f98000',
  'single precision 1.0': 'fa3f800000',
  'double precision 1.0': 'fb3ff0000000000000',
  'double precision 2^53': 'fb4340000000000000',
  'the integer 2^53+1': '1b0020000000000001',
  'the integer 2^63': '1b8000000000000000',
} as const;

/** Requests with a literal in JSON and YAML and a CBOR response. */
function toCbor(literal: string): NumberRequest[] {
  // One member in each map, because Go encodes maps in random order.
  const body = object('y', `{"any":{"n":${literal}}}`);
  const data = revision('y', `{"n":${literal}}`);
  return [
    post(`${literal} in JSON as CBOR`, dry(custom), body, 'spec', { accept: cbor }),
    post(`${literal} in YAML as CBOR`, dry(custom), body, 'spec', { accept: cbor, contentType: yaml }),
    post(`${literal} in raw content as CBOR`, dry(revisions), data, 'data', { accept: cbor }),
  ];
}

function fromCbor([name, item]: [string, string]): NumberRequest[] {
  const sent = { contentType: cbor };
  return [
    post(`CBOR ${name} as JSON`, dry(custom), cborObject(item), 'spec', sent),
    post(`CBOR ${name} as CBOR`, dry(custom), cborObject(item), 'spec', { ...sent, accept: cbor }),
    post(`CBOR ${name} under a rule`, dry(custom), cborObject(item, 'ios'), 'spec', sent),
  ];
}

const prepared: readonly NumberRequest[] = [
  post('the definition', definitions, JSON.stringify(things)),
  { name: 'it is served', method: 'GET', path: custom, until: true },
];

export interface NumberRequests {
  /** File name of the record. */
  readonly record: string;
  readonly flags: readonly string[];
  readonly requests: readonly NumberRequest[];
}

const flags = ['--disable-admission-plugins=ServiceAccount'];

export const inJson: NumberRequests = {
  record: 'json.json',
  flags,
  requests: [
    ...prepared,
    post('a deployment', deployments, deployment('d', '3')),
    post('a service', services, service('s', '54')),
    ...literals.flatMap(inEachField),
    ...few.flatMap(inMetadata),
    ...few.flatMap(history),
    ...few.flatMap(inRawContent),
    ...[...few, '3.0', '54', '54.0'].flatMap(inBuiltIns),
    ...few.flatMap(inSchemas),
  ],
};

/** Requests in CBOR, as dry runs, because a CBOR store would preserve number types that JSON loses. */
export const inCbor: NumberRequests = {
  record: 'cbor.json',
  flags: [...flags, '--feature-gates=CBORServingAndStorage=true'],
  requests: [...prepared, ...literals.flatMap(toCbor), ...Object.entries(cborItems).flatMap(fromCbor)],
};

/** Returns the compared part of a response, without times and identifiers of the server. */
export function answerTo({ name, field, accept }: NumberRequest, status: number, body: Buffer, warning: string | undefined): NumberAnswer {
  const said = { name, status, ...(warning && { warning }) };
  if (status >= 400) return { ...said, text: messageOf(body) };
  if (field === undefined) return said;
  return {
    ...said,
    text:
      accept === cbor ? cborFieldOf(body, field) : accept === yaml ? yamlFieldOf(body.toString(), field) : fieldOf(body.toString(), field),
  };
}

function messageOf(body: Buffer): string {
  const text = body.toString();
  try {
    return withoutIdentities((JSON.parse(text) as { message: string }).message);
  } catch {
    // CBOR: the next member's name starts with its length.
    const found = /message.{0,3}?([ -~]{20,}?)(?=[A-Z](?:metadata|reason|status|code|kind|details)|$)/.exec(body.toString('latin1'));
    return withoutIdentities(found?.[1] ?? text);
  }
}

const withoutIdentities = (text: string): string =>
  text
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID')
    .replace(/20\d\d-\d\d-\d\dT[\d:]+Z/g, 'TIME')
    .replace(/10\.0\.0\.\d+/g, 'IP')
    .replace(/(resourceVersion\\?":\\?")\d+/g, '$1RV')
    .replace(/resourceVersion:\d+/g, 'resourceVersion:RV');

/** Returns the text of the first JSON member with a name. */
function fieldOf(text: string, field: string): string | undefined {
  const at = text.indexOf(`"${field}":`);
  if (at < 0) return undefined;
  const from = at + field.length + 3;
  let depth = 0;
  for (let i = from; i < text.length; i++) {
    const char = text[i]!;
    if (char === '"') i = endOfString(text, i);
    else if (char === '{' || char === '[') depth += 1;
    else if ((char === '}' || char === ']' || char === ',') && depth === 0) return withoutIdentities(text.slice(from, i));
    else if (char === '}' || char === ']') depth -= 1;
  }
  return undefined;
}

function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

/** Returns the lines of a top-level YAML member. */
function yamlFieldOf(text: string, field: string): string | undefined {
  return new RegExp(`^${field}:.*\\n(?:[ -].*\\n)*`, 'm').exec(text)?.[0];
}

/** Returns the bytes from a member's name up to the next member or the end of the object. */
function cborFieldOf(body: Buffer, field: string): string | undefined {
  const at = body.indexOf(Buffer.concat([Buffer.from([0x40 | field.length]), Buffer.from(field)]));
  if (at < 0) return undefined;
  const ends = ['kind', 'revision', 'apiVersion', 'metadata'].map((next) => body.indexOf(next, at)).filter((end) => end > at);
  return body.subarray(at, Math.min(body.length, ...ends.map((end) => end - 1))).toString('hex');
}
