/**
 * Requests with the most expensive content of each kind: body shapes in each encoding and verb, selectors, and compiled
 * content (patterns, schemas, expressions). Used by content.test.ts and test/bench/content-costs.mjs.
 */
import { Buffer } from 'node:buffer';
import { many as manyOf } from '../longest-turn.ts';

export interface ContentRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
}

export interface ContentCase {
  readonly name: string;
  readonly request: ContentRequest;
  /** Preceding requests that are not measured. */
  readonly before?: readonly ContentRequest[];
}

/** Size of a body: a fifth of the maximum, so that all cases take minutes; quadratic costs still show. */
const bodyBytes = 600_000;

const many = (make: (i: number) => string, bytes = bodyBytes): string => manyOf(make, bytes);

const configMaps = '/api/v1/namespaces/default/configmaps';
const pods = '/api/v1/namespaces/default/pods';
const listed = '/api/v1/namespaces/listed/configmaps';
const things = '/apis/content.example.dev/v1/namespaces/default/things';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';

const types = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
  cbor: 'application/cbor',
  jsonPatch: 'application/json-patch+json',
  mergePatch: 'application/merge-patch+json',
  strategicPatch: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

function send(method: string, path: string, type: keyof typeof types, body: Buffer | string): ContentRequest {
  return { method, path, headers: { 'content-type': types[type] }, body };
}

const repeated = (text: string, bytes = bodyBytes): string => text.repeat(Math.floor(bytes / Buffer.byteLength(text)));
const scrambled = (i: number): string => ((i * 7_919 + 13) % 1_000_003).toString(36);

/** Members of a ConfigMap without kind and name. */
const shapes: Readonly<Record<string, string>> = {
  'many keys': `"data":{${many((i) => `"k${i}":""`)}}`,
  'the same key': `"data":{${many(() => '"a":""')}}`,
  'one long text': `"data":{"a":"${repeated('x')}"}`,
  escapes: `"data":{"a":"${repeated('\\u003c')}"}`,
  surrogates: `"data":{"a":"${repeated('\\ud83d\\ude00')}"}`,
  'lone surrogates': `"data":{"a":"${repeated('\\ud83d')}"}`,
  'a long key': `"data":{"${repeated('k')}":""}`,
  'unknown fields': many((i) => `"f${i}":1`),
  'an unknown field over and over': many(() => '"f":1'),
  'depth in an unknown field': `"f":${'['.repeat(9_990)}${']'.repeat(9_990)}`,
  'too much depth': `"f":${repeated('[')}`,
  'depth over and over': `"f":[${many(() => `${'['.repeat(9_900)}${']'.repeat(9_900)}`)}]`,
  'a number of many digits': `"f":${repeated('9')}`,
  'long integers': `"f":[${many((i) => String(9_007_199_254_740_993n + BigInt(i)))}]`,
  fractions: `"f":[${many((i) => `1.${i}e3`)}]`,
  nulls: `"data":{${many((i) => `"k${i}":null`)}}`,
  labels: `"metadata":{"name":"NAME","labels":{${many((i) => `"k${i}":""`)}}}`,
  annotations: `"metadata":{"name":"NAME","annotations":{${many((i) => `"k${i}":""`)}}}`,
  finalizers: `"metadata":{"name":"NAME","finalizers":[${many((i) => `"x/${scrambled(i)}"`)}]}`,
  'empty owners': `"metadata":{"name":"NAME","ownerReferences":[${many(() => '{}')}]}`,
  'empty managers': `"metadata":{"name":"NAME","managedFields":[${many(() => '{}')}]}`,
  'binary data': `"binaryData":{${many((i) => `"k${i}":"AA=="`)}}`,
  'data that is no base64': `"binaryData":{"a":"${repeated('!')}"}`,
};

const podShapes: Readonly<Record<string, string>> = {
  'empty containers': `"containers":[${many(() => '{}')}]`,
  'null containers': `"containers":[${many(() => 'null')}]`,
  containers: `"containers":[${many((i) => `{"name":"c${i}","image":"i"}`)}]`,
  tolerations: `"containers":[{"name":"c","image":"i"}],"tolerations":[${many(() => '{}')}]`,
  volumes: `"containers":[{"name":"c","image":"i"}],"volumes":[${many((i) => `{"name":"v${i}"}`)}]`,
  ports: `"containers":[{"name":"c","image":"i","ports":[${many((i) => `{"containerPort":${(i % 65_535) + 1}}`)}]}]`,
  'environment with references': `"containers":[{"name":"c","image":"i","env":[${many((i) => `{"name":"A${i}","value":"$(A${i - 1})$(A${i - 1})"}`)}]}]`,
  quantities: `"containers":[{"name":"c","image":"i","resources":{"limits":{${many((i) => `"x.io/${i}":"1e${i % 30}"`)}}}}]`,
  'a long quantity': `"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"${repeated('9')}"}}}]`,
  'affinity terms': `"containers":[{"name":"c","image":"i"}],"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[${many(() => '{"matchExpressions":[{}]}')}]}}}`,
};

function configMap(name: string, members: string): string {
  const own = members.includes('"metadata"') ? '' : `"metadata":{"name":"${name}"},`;
  return `{"apiVersion":"v1","kind":"ConfigMap",${own}${members.replace('NAME', name)}}`;
}

const pod = (name: string, spec: string): string => `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"${name}"},"spec":{${spec}}}`;
const thing = (name: string, members: string): string =>
  `{"apiVersion":"content.example.dev/v1","kind":"Thing","metadata":{"name":"${name}"},${members}}`;

/** Bodies possible only in YAML. */
const yamlTexts: Readonly<Record<string, string>> = {
  dashes: repeated('- '),
  'lines of the same key': repeated('a: b\n'),
  'lines of keys': `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\ndata:\n${many((i) => ` k${i}: v\n`).replaceAll(',', '')}`,
  'question marks': repeated('? '),
  brackets: repeated('['),
  'keys in braces': repeated('{a: '),
  'a staircase': Array.from({ length: 2_400 }, (_, i) => `${' '.repeat(i)}a:\n`).join(''),
  aliases: `- &a x\n${repeated('- *a\n')}`,
  'aliases of aliases': Array.from(
    { length: 40 },
    (_, i) =>
      `a${i}: &a${i} [${Array(9)
        .fill(i ? `*a${i - 1}` : 'x')
        .join()}]\n`,
  ).join(''),
  merges: `x: &x {a: 1}\ny:\n${repeated(' <<: *x\n')}`,
  anchors: many((i) => `- &a${i} x\n`).replaceAll(',', ''),
  tags: repeated('- !!str x\n'),
  'empty lines': `a: |\n${repeated('\n')}`,
  comments: repeated('#\n'),
  documents: repeated('---\n'),
  'empty items': repeated('-\n'),
  quotes: `a: '${repeated("''")}'`,
  escapes: `a: "${repeated('\\n')}"`,
  'keys of many characters': repeated(`${'a'.repeat(1_000)}\n`),
  'nested simple keys': repeated(`${'['.repeat(300)}a${']:'.repeat(300)}`),
};

function varint(value: number): Buffer {
  const octets: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) octets.push((rest % 0x80) | 0x80);
  octets.push(rest);
  return Buffer.from(octets);
}

/** Encodes a length-delimited field of a protobuf message. */
export function field(number: number, value: Buffer | string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

/** Encodes a protobuf body of the API. */
export function unknown(kind: string, raw: Buffer): Buffer {
  const meta = Buffer.concat([field(1, 'v1'), field(2, kind)]);
  return Buffer.concat([Buffer.from('k8s\0'), field(1, meta), field(2, raw)]);
}

const filled = (part: Buffer, bytes = bodyBytes): Buffer => Buffer.concat(Array(Math.floor(bytes / part.length)).fill(part));
const metadata = (more: Buffer): Buffer => field(1, Buffer.concat([field(1, 'protobuf'), more]));

/** Protobuf bodies that expand from a few bytes. */
const protobufs: Readonly<Record<string, Buffer>> = {
  'empty owners': unknown('ConfigMap', metadata(filled(field(13, '')))),
  'empty managers': unknown('ConfigMap', metadata(filled(field(17, '')))),
  'empty entries': unknown('ConfigMap', Buffer.concat([metadata(Buffer.alloc(0)), filled(field(2, ''))])),
  entries: unknown(
    'ConfigMap',
    Buffer.concat([metadata(Buffer.alloc(0)), Buffer.concat(Array.from({ length: 50_000 }, (_, i) => field(2, field(1, `k${i}`))))]),
  ),
  'metadata over and over': unknown('ConfigMap', filled(metadata(Buffer.alloc(0)))),
  'unknown fields': unknown('ConfigMap', filled(Buffer.from([0xf8, 0x07, 0x01]))),
  groups: unknown('ConfigMap', filled(Buffer.from([0xfb, 0x07]))),
  'empty containers': unknown('Pod', Buffer.concat([metadata(Buffer.alloc(0)), field(2, filled(field(2, '')))])),
  'long numbers': unknown('ConfigMap', filled(Buffer.from([0xf8, 0x07, ...Array(9).fill(0xff), 0x01]))),
};

const cborText = (text: string): Buffer => {
  const bytes = Buffer.from(text);
  return Buffer.concat([bytes.length < 24 ? Buffer.from([0x60 + bytes.length]) : Buffer.from([0x78, bytes.length]), bytes]);
};

/** Encodes a map of indefinite length with the self-describing tag. */
const cborMap = (...entries: Buffer[]): Buffer => Buffer.concat([Buffer.from([0xd9, 0xd9, 0xf7, 0xbf]), ...entries, Buffer.from([0xff])]);

const cborConfigMap = (...more: Buffer[]): Buffer =>
  cborMap(
    ...['apiVersion', 'v1', 'kind', 'ConfigMap'].map(cborText),
    ...[cborText('metadata'), Buffer.from([0xa1]), cborText('name'), cborText('cbor')],
    ...more,
  );

const endless = (open: number, part: Buffer): Buffer => Buffer.concat([Buffer.from([open]), filled(part), Buffer.from([0xff])]);

const cborKeys = (count: number): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, i) => Buffer.concat([cborText(`k${i}`), cborText('')])));

const cbors: Readonly<Record<string, Buffer>> = {
  'arrays in arrays': cborConfigMap(cborText('f'), filled(Buffer.from([0x9f]))),
  'empty arrays': cborConfigMap(cborText('f'), endless(0x9f, Buffer.from([0x80]))),
  'the same key': cborConfigMap(cborText('data'), endless(0xbf, Buffer.concat([cborText('a'), cborText('')]))),
  tags: cborConfigMap(cborText('f'), filled(Buffer.from([0xc1]))),
  'long integers': cborConfigMap(cborText('f'), endless(0x9f, Buffer.from([0x1b, ...Array(8).fill(0xff)]))),
  'a length without an end': cborConfigMap(cborText('f'), Buffer.from([0x9b, ...Array(8).fill(0x7f)])),
  keys: cborConfigMap(cborText('data'), Buffer.from([0xbf]), cborKeys(60_000), Buffer.from([0xff])),
};

/**
 * Size of the query parameters of lists in a namespace with 1,200 ConfigMaps of ten labels each. A request line is limited
 * to 1 MiB.
 */
const queryBytes = 700_000;
const selectors: Readonly<Record<string, string>> = {
  'requirements that hold': `labelSelector=${many((i) => `x${i}!=1`, 200_000)}`,
  'requirements of one label': `labelSelector=${many((i) => `a!=v${i}`, 200_000)}`,
  'labels that are missing': `labelSelector=${many((i) => `!x${i}`, 180_000)}`,
  'values of one in': `labelSelector=a+in+(${many((i) => `v${i}`, queryBytes)})`,
  'values of one notin': `labelSelector=a+notin+(${many((i) => `v${i}`, queryBytes)})`,
  'the same value': `labelSelector=a+in+(${many(() => 'a', queryBytes)})`,
  numbers: `labelSelector=${many((i) => `n>${i % 10}`, 200_000)}`,
  commas: `labelSelector=a+in+(${','.repeat(queryBytes)})`,
  brackets: `labelSelector=${'('.repeat(queryBytes)}`,
  'one long key': `labelSelector=${'a'.repeat(queryBytes)}`,
  'field terms': `fieldSelector=${many((i) => `metadata.name!=n${i}`, 500_000)}`,
  'field terms of one value': `fieldSelector=${many(() => 'metadata.name!=a', 500_000)}`,
  'escapes of a field term': `fieldSelector=metadata.name!=${'\\,'.repeat(200_000)}`,
  parameters: many((i) => `p${i}=`, queryBytes).replaceAll(',', '&'),
  'one parameter': many(() => 'pretty=0', queryBytes).replaceAll(',', '&'),
  'a percent sign': `fieldManager=${'%25'.repeat(200_000)}`,
};

const structural = (properties: string): string => `{"type":"object","properties":{${properties}}}`;

function definition(plural: string, schema: string): string {
  const kind = `K${plural}`;
  return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"${plural}.content.example.dev"},"spec":{"group":"content.example.dev","scope":"Namespaced","names":{"plural":"${plural}","singular":"${plural}","kind":"${kind}","listKind":"${kind}List"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":${schema}}}]}}`;
}

const patterns = (pattern: string, count: number): string =>
  structural(Array.from({ length: count }, (_, i) => `"p${i}":{"type":"string","pattern":${JSON.stringify(pattern)}}`).join());

const rules = (rule: (i: number) => string, count: number): string =>
  `{"type":"object","x-kubernetes-validations":[${Array.from({ length: count }, (_, i) => `{"rule":${JSON.stringify(rule(i))}}`).join()}],"properties":{"a":{"type":"string","maxLength":10}}}`;

function nested(depth: number): string {
  return `${'{"type":"object","properties":{"a":'.repeat(depth)}{"type":"string"}${'}}'.repeat(depth)}`;
}

const schemas: Readonly<Record<string, string>> = {
  'patterns that repeat a repetition': patterns('(x{100}){10}', 50),
  'patterns that repeat too much': patterns('((x{100}){10}){2}', 50),
  'patterns of classes': patterns('^(\\p{L}{50}){10}$', 50),
  'a pattern of alternatives': patterns(`^(${many((i) => `a${i}`, 200_000).replaceAll(',', '|')})$`, 1),
  'a pattern of groups': patterns(`${'('.repeat(900)}a${')'.repeat(900)}`, 50),
  'a pattern of optional parts': patterns('(x?){1000}', 50),
  'a long pattern of stars': patterns('(a*)*'.repeat(10_000), 1),
  'many properties': structural(many((i) => `"p${i}":{"type":"string"}`, 500_000)),
  'nested schemas': nested(400),
  'schemas nested too deep': nested(9_000),
  enumerations: structural(`"a":{"type":"string","enum":[${many((i) => `"v${i}"`, 500_000)}]}`),
  'one enumeration value over and over': structural(`"a":{"type":"string","enum":[${many(() => '"v"', 500_000)}]}`),
  'required fields': `{"type":"object","required":[${many((i) => `"v${i}"`, 500_000)}]}`,
  alternatives: `{"type":"object","anyOf":[${many(() => '{}', 500_000)}]}`,
  'nested alternatives': `{"type":"object",${'"not":{"allOf":[{'.repeat(200)}${'}]}'.repeat(200)}}`,
  rules: rules((i) => `self.a != 'v${i}'`, 1_000),
  'a long rule': rules(() => Array.from({ length: 2_000 }, (_, i) => `self.a != 'v${i}'`).join(' && '), 1),
  'a rule in brackets': rules(() => `${'('.repeat(200)}true${')'.repeat(200)}`, 100),
  'a rule of minus signs': rules(() => `${'-'.repeat(5_000)}1 == 1`, 10),
  'a rule of lists': rules(() => `${'['.repeat(100)}${']'.repeat(100)} == []`, 100),
  'a rule that nests macros': rules(
    () => `${Array.from({ length: 8 }, (_, i) => `[1,2,3,4,5,6,7,8].all(x${i}, `).join('')}true${')'.repeat(8)}`,
    20,
  ),
  'a rule that matches a pattern': rules(() => "self.a.matches('(x{100}){10}')", 50),
  'a default': structural(
    `"a":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"default":{${many((i) => `"k${i}":1`, 400_000)}}}`,
  ),
};

function policy(name: string, spec: string): string {
  return `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{"name":"${name}"},"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["nodes"]}]},${spec}}}`;
}

const expressions: Readonly<Record<string, string>> = {
  validations: `"validations":[${many((i) => `{"expression":"object.metadata.name != 'x${i}'"}`, 300_000)}]`,
  'variables of the one before': `"variables":[${many((i) => `{"name":"v${i}","expression":"${i ? `variables.v${i - 1} + 1` : '1'}"}`, 300_000)}],"validations":[{"expression":"true"}]`,
  'a long expression': `"validations":[{"expression":"${Array.from({ length: 5_000 }, (_, i) => `object.metadata.name != 'x${i}'`).join(' && ')}"}]`,
  'a list of many': `"validations":[{"expression":"1 in [${Array.from({ length: 50_000 }, (_, i) => i).join()}]"}]`,
  brackets: `"validations":[{"expression":"${'('.repeat(1_000)}true${')'.repeat(1_000)}"}]`,
  'brackets that stay open': `"validations":[{"expression":"${repeated('(', 500_000)}"}]`,
  'an expression of quotes': `"validations":[{"expression":"'${repeated('a', 1_000_000)}' == ''"}]`,
  ternaries: `"validations":[{"expression":"${'true ? true : '.repeat(5_000)}true"}]`,
  'selectors of fields': `"validations":[{"expression":"object${'.a'.repeat(5_000)} == 1"}]`,
  'match conditions': `"matchConditions":[${many((i) => `{"name":"c${i}","expression":"true"}`, 300_000)}],"validations":[{"expression":"true"}]`,
};

const numbers: Readonly<Record<string, string>> = {
  'beyond 53 bits': '9007199254740993',
  'the greatest int64': '9223372036854775807',
  'the least int64': '-9223372036854775808',
  'beyond int64': '9223372036854775808',
  'beyond uint64': '18446744073709551616',
  'beyond a double': '1e400',
  'a fraction': '1.5',
  'an exponent': '1e3',
  'minus zero': '-0',
  'many digits': '9'.repeat(400),
  null: 'null',
  text: '"1"',
  'a list': '[1]',
  'an object': '{"a":1}',
};

/** Number fields of a Deployment and its pods. */
const numberFields: readonly (readonly [path: string, name: string])[] = [
  ['spec', 'replicas'],
  ['spec', 'revisionHistoryLimit'],
  ['spec.template.spec', 'terminationGracePeriodSeconds'],
  ['spec.template.spec', 'activeDeadlineSeconds'],
  ['spec.template.spec', 'priority'],
  ['metadata', 'generation'],
  ['metadata', 'deletionGracePeriodSeconds'],
  ['metadata', 'labels'],
  ['spec.template.spec', 'containers'],
  ['spec.strategy.rollingUpdate', 'maxSurge'],
];

const deployments = '/apis/apps/v1/namespaces/default/deployments';
const nestedValue = (path: string, name: string, value: string): string =>
  path.split('.').reduceRight((inner, part) => `{"${part}":${inner}}`, `{"${name}":${value}}`);

/** Yields each number in each field by each kind of patch, and the pod field that once caused a panic. */
function* numberCases(): Generator<ContentCase> {
  for (const [what, value] of Object.entries(numbers)) {
    for (const [path, name] of numberFields) {
      const body = nestedValue(path, name, value);
      const pointer = `/${path.replaceAll('.', '/')}/${name}`;
      const where = `${what} as ${name}`;
      yield { name: `${where}, merge patch`, request: send('PATCH', `${deployments}/d`, 'mergePatch', body) };
      yield { name: `${where}, strategic merge patch`, request: send('PATCH', `${deployments}/d`, 'strategicPatch', body) };
      yield {
        name: `${where}, JSON patch`,
        request: send('PATCH', `${deployments}/d`, 'jsonPatch', `[{"op":"add","path":"${pointer}","value":${value}}]`),
      };
      const applied = `{"apiVersion":"apps/v1","kind":"Deployment",${body.slice(1)}`;
      yield { name: `${where}, apply`, request: send('PATCH', `${deployments}/d?fieldManager=m&force=true`, 'apply', applied) };
      yield { name: `${where}, create`, request: send('POST', deployments, 'json', applied.replace(/}$/, '}')) };
    }
    for (const name of ['terminationGracePeriodSeconds', 'activeDeadlineSeconds', 'priority']) {
      const body = `{"spec":{"${name}":${value}}}`;
      yield { name: `${what} as ${name} of a pod, merge patch`, request: send('PATCH', `${pods}/p`, 'mergePatch', body) };
      yield { name: `${what} as ${name} of a pod, strategic merge patch`, request: send('PATCH', `${pods}/p`, 'strategicPatch', body) };
    }
    for (const member of ['integer', 'number', 'text', 'open', 'list']) {
      yield {
        name: `${what} as ${member} of a custom resource, create`,
        request: send('POST', things, 'json', thing(`n${member}`, `"${member}":${value}`)),
      };
      yield {
        name: `${what} as ${member} of a custom resource, merge patch`,
        request: send('PATCH', `${things}/t`, 'mergePatch', `{"${member}":${value}}`),
      };
      const applied = thing('t', `"${member}":${value}`);
      yield {
        name: `${what} as ${member} of a custom resource, apply`,
        request: send('PATCH', `${things}/t?fieldManager=m&force=true`, 'apply', applied),
      };
    }
    const options = `{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":${value}}`;
    yield { name: `${what} as gracePeriodSeconds, delete`, request: send('DELETE', `${pods}/p?dryRun=All`, 'json', options) };
    yield {
      name: `${what} as a timeout`,
      request: { path: `${pods}?timeoutSeconds=${encodeURIComponent(value)}&limit=${encodeURIComponent(value)}` },
    };
    yield {
      name: `${what} as replicas of a scale`,
      request: send('PATCH', `${deployments}/d/scale`, 'mergePatch', `{"spec":{"replicas":${value}}}`),
    };
  }
}

function* bodyCases(): Generator<ContentCase> {
  let count = 0;
  const fresh = (): string => `c${(count += 1)}`;
  for (const [shape, members] of Object.entries(shapes)) {
    const name = fresh();
    const body = configMap(name, members);
    const stored: ContentRequest = send('POST', configMaps, 'json', configMap(name, '"data":{"a":"1"}'));
    yield { name: `${shape}: JSON, create`, request: send('POST', configMaps, 'json', configMap(fresh(), members)) };
    yield {
      name: `${shape}: JSON, create, dry run`,
      request: send('POST', `${configMaps}?dryRun=All`, 'json', configMap(fresh(), members)),
    };
    yield {
      name: `${shape}: JSON, create, strict`,
      request: send('POST', `${configMaps}?fieldValidation=Strict`, 'json', configMap(fresh(), members)),
    };
    yield { name: `${shape}: YAML, create`, request: send('POST', configMaps, 'yaml', `---\n${configMap(fresh(), members)}`) };
    yield { name: `${shape}: update`, before: [stored], request: send('PUT', `${configMaps}/${name}`, 'json', body) };
    const merge = members.includes('"metadata"') ? `{${members.replace('NAME', name)}}` : `{${members}}`;
    yield { name: `${shape}: merge patch`, before: [stored], request: send('PATCH', `${configMaps}/${name}`, 'mergePatch', merge) };
    yield {
      name: `${shape}: strategic merge patch`,
      before: [stored],
      request: send('PATCH', `${configMaps}/${name}`, 'strategicPatch', merge),
    };
    yield {
      name: `${shape}: JSON patch`,
      before: [stored],
      request: send('PATCH', `${configMaps}/${name}`, 'jsonPatch', `[{"op":"add","path":"/f","value":${merge}}]`),
    };
    yield {
      name: `${shape}: apply`,
      request: send('PATCH', `${configMaps}/${fresh()}?fieldManager=m`, 'apply', configMap(`c${count}`, members)),
    };
    yield {
      name: `${shape}: custom resource, create`,
      request: send('POST', things, 'json', thing(fresh(), members.startsWith('"metadata"') ? '"open":{}' : `"open":{${members}}`)),
    };
  }
  for (const [shape, spec] of Object.entries(podShapes)) {
    yield { name: `${shape}: JSON, create`, request: send('POST', pods, 'json', pod(fresh(), spec)) };
    yield { name: `${shape}: YAML, create`, request: send('POST', pods, 'yaml', `---\n${pod(fresh(), spec)}`) };
    yield {
      name: `${shape}: strategic merge patch`,
      request: send('PATCH', `${deployments}/d?dryRun=All`, 'strategicPatch', `{"spec":{"template":{"spec":{${spec}}}}}`),
    };
    yield { name: `${shape}: apply`, request: send('PATCH', `${pods}/${fresh()}?fieldManager=m`, 'apply', pod(`c${count}`, spec)) };
  }
}

function* otherCases(): Generator<ContentCase> {
  for (const [what, text] of Object.entries(yamlTexts)) {
    yield { name: `YAML of ${what}, create`, request: send('POST', configMaps, 'yaml', text) };
    yield { name: `YAML of ${what}, apply`, request: send('PATCH', `${configMaps}/yaml?fieldManager=m`, 'apply', text) };
  }
  for (const [what, body] of Object.entries(protobufs)) {
    const path = what === 'empty containers' ? pods : configMaps;
    yield { name: `protobuf of ${what}, create`, request: send('POST', path, 'protobuf', body) };
  }
  for (const [what, body] of Object.entries(cbors))
    yield { name: `CBOR of ${what}, create`, request: send('POST', configMaps, 'cbor', body) };
  for (const [what, query] of Object.entries(selectors)) {
    yield { name: `list by ${what}`, request: { path: `${listed}?${query}` } };
    yield { name: `watch by ${what}`, request: { path: `${listed}?watch=true&timeoutSeconds=1&${query}` } };
    yield {
      name: `Table by ${what}`,
      request: { path: `${listed}?${query}`, headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' } },
    };
    yield { name: `deletion by ${what}`, request: { method: 'DELETE', path: `${listed}?dryRun=All&${query}` } };
  }
  let count = 0;
  for (const [what, schema] of Object.entries(schemas)) {
    const plural = `s${(count += 1)}`;
    yield { name: `schema of ${what}, create`, request: send('POST', definitions, 'json', definition(plural, schema)) };
    yield { name: `schema of ${what}, remove`, request: { method: 'DELETE', path: `${definitions}/${plural}.content.example.dev` } };
  }
  for (const [what, spec] of Object.entries(expressions)) {
    const name = `p${(count += 1)}`;
    yield { name: `policy of ${what}, create`, request: send('POST', policies, 'json', policy(name, spec)) };
    yield { name: `policy of ${what}, remove`, request: { method: 'DELETE', path: `${policies}/${name}` } };
  }
}

/** All costly cases. The number cases are small; only their responses matter. */
export const costly: readonly ContentCase[] = [...otherCases(), ...bodyCases()];
export const odd: readonly ContentCase[] = [...numberCases()];

/** Yields the requests that create the objects of the cases. */
export function* preparations(): Generator<ContentRequest> {
  yield send('POST', '/api/v1/namespaces', 'json', '{"metadata":{"name":"listed"}}');
  yield send('POST', '/api/v1/namespaces/default/serviceaccounts', 'json', '{"metadata":{"name":"default"}}');
  for (let i = 0; i < 1_200; i++) {
    const labels = Array.from({ length: 10 }, (_, n) => `"l${n}":"v${i}"`).join();
    yield send('POST', listed, 'json', `{"metadata":{"name":"c${i}","labels":{"a":"v${i}","n":"${i}",${labels}}}}`);
  }
  const spec = '{"containers":[{"name":"c","image":"i"}]}';
  yield send('POST', pods, 'json', `{"metadata":{"name":"p"},"spec":${spec}}`);
  yield send(
    'POST',
    deployments,
    'json',
    `{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":${spec}}}}`,
  );
  const open = '{"type":"object","x-kubernetes-preserve-unknown-fields":true}';
  const properties = `"open":${open},"integer":{"type":"integer","format":"int64"},"number":{"type":"number"},"text":{"type":"string"},"list":{"type":"array","items":{"type":"integer"}}`;
  yield send('POST', definitions, 'json', definition('things', structural(properties)).replaceAll('Kthings', 'Thing'));
}

/** Path of the custom resources of the cases, to await that they are served. */
export const awaited = things;
export const custom: ContentRequest = send('POST', things, 'json', thing('t', '"integer":1'));
