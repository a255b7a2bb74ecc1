import {
  base64Problem,
  inSteps,
  jsonKind,
  keysOf,
  needsSteps,
  parseJson,
  parseJsonSteps,
  readYaml,
  startSteps,
  type Steps,
} from '#sdk/internal';

/**
 * Schema of an AdmissionReview response with the names of Go's types. Upstream: api/admission/v1/types.go,
 * apimachinery/pkg/apis/meta/v1/types.go; v1beta1 has the same fields.
 */
type GoType =
  | { readonly scalar: 'string' | 'boolean' | 'integer' | 'bytes'; readonly name: string }
  | { readonly struct: string; readonly fields: Readonly<Record<string, GoType>> }
  | { readonly items: GoType }
  | { readonly values: GoType };

const named = (name: string): GoType => ({ scalar: 'string', name });
const text = named('string');
const int32: GoType = { scalar: 'integer', name: 'int32' };

const statusDetails: GoType = {
  struct: 'v1.StatusDetails',
  fields: {
    name: text,
    group: text,
    kind: text,
    uid: named('types.UID'),
    causes: { items: { struct: 'v1.StatusCause', fields: { reason: named('v1.CauseType'), message: text, field: text } } },
    retryAfterSeconds: int32,
  },
};
const status: GoType = {
  struct: 'v1.Status',
  fields: {
    kind: text,
    apiVersion: text,
    metadata: {
      struct: 'v1.ListMeta',
      fields: { selfLink: text, resourceVersion: text, continue: text, remainingItemCount: { scalar: 'integer', name: 'int64' } },
    },
    status: text,
    message: text,
    reason: named('v1.StatusReason'),
    details: statusDetails,
    code: int32,
  },
};

function reviewType(version: string): GoType {
  const response: GoType = {
    struct: `${version}.AdmissionResponse`,
    fields: {
      uid: named('types.UID'),
      allowed: { scalar: 'boolean', name: 'bool' },
      status,
      patch: { scalar: 'bytes', name: '[]uint8' },
      patchType: named(`${version}.PatchType`),
      auditAnnotations: { values: text },
      warnings: { items: text },
    },
  };
  return { struct: `${version}.AdmissionReview`, fields: { response } };
}

type Fields = Readonly<Record<string, unknown>>;

const group = 'admission.k8s.io';
const findKind = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/**
 * Decodes an AdmissionReview of a version. Throws an Error with the message of upstream's decoder. Upstream:
 * client-go/rest/request.go (Into), apimachinery/pkg/runtime/serializer. A large one is parsed in several turns of the event loop, or as
 * YAML in another thread.
 */
export async function decodeReview(bytes: Buffer, version: string): Promise<Fields> {
  const document = await parse(bytes);
  if (document === null) return {};
  if (typeof document !== 'object' || Array.isArray(document))
    throw new Error(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonKind(document)} into Go value of type ${findKind}`,
    );
  const fields = document as Fields;
  // A missing apiVersion defaults to the expected one.
  const apiVersion = textOf(fields, 'apiVersion') || `${group}/${version}`;
  const kind = textOf(fields, 'kind') || 'AdmissionReview';
  if (apiVersion !== `${group}/${version}` || kind !== 'AdmissionReview') throw new Error(foreignText(apiVersion, kind, version));
  await startSteps(checkSteps(reviewType(version), fields, []));
  return fields;
}

function textOf(fields: Fields, name: 'apiVersion' | 'kind'): string {
  const value = fields[name] ?? '';
  if (typeof value === 'string') return value;
  throw new Error(
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonKind(value)} into Go struct field .${name} of type string`,
  );
}

/** Parses JSON or, like client-go, YAML. */
async function parse(bytes: Buffer): Promise<unknown> {
  try {
    return (needsSteps(bytes.length) ? await inSteps(parseJsonSteps(bytes)) : parseJson(bytes)).value;
  } catch (error) {
    if (/^\s*\{/.test(bytes.toString('latin1', 0, 100)))
      throw new Error(`couldn't get version/kind; json parse error: ${(error as Error).message}`, { cause: error });
    return (await readYaml(bytes)).value;
  }
}

function foreignText(apiVersion: string, kind: string, version: string): string {
  if (kind === 'AdmissionReview' && (apiVersion === `${group}/v1` || apiVersion === `${group}/v1beta1`))
    return `converting (${apiVersion.slice(group.length + 1)}.AdmissionReview) to (${version}.AdmissionReview): unknown conversion`;
  if (kind === 'Status' && apiVersion === 'v1') return `converting (v1.Status) to (${version}.AdmissionReview): unknown conversion`;
  return `no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`;
}

/** Number of values that are checked between two yields. */
const valuesPerStep = 1_024;

/** Throws for the first mismatched value. `at` is its field path, `owner` the struct that contains it. Yields to the event loop. */
function* checkSteps(type: GoType, value: unknown, at: readonly string[], owner = ''): Steps<void> {
  if (value === null || value === undefined) return;
  const misfit = (what = jsonKind(value)): Error =>
    new Error(`json: cannot unmarshal ${what} into Go struct field ${owner}.${at.join('.')} of type ${nameOf(type)}`);
  if ('scalar' in type) {
    checkScalar(type.scalar, value, misfit);
  } else if ('items' in type) {
    if (!Array.isArray(value)) throw misfit();
    for (const [i, item] of value.entries()) {
      if (i % valuesPerStep === 0) yield;
      yield* checkSteps(type.items, item, at, owner);
    }
  } else {
    if (typeof value !== 'object' || Array.isArray(value)) throw misfit();
    for (const [i, name] of keysOf(value).entries()) {
      if (i % valuesPerStep === 0) yield;
      const member = (value as Fields)[name];
      if ('values' in type) yield* checkSteps(type.values, member, at, owner);
      else if (Object.hasOwn(type.fields, name))
        yield* checkSteps(type.fields[name] as GoType, member, [...at, name], type.struct.slice(type.struct.indexOf('.') + 1));
    }
  }
}

function checkScalar(scalar: 'string' | 'boolean' | 'integer' | 'bytes', value: unknown, misfit: (what?: string) => Error): void {
  if (scalar === 'integer') {
    if (typeof value !== 'number') throw misfit();
    if (!Number.isSafeInteger(value)) throw misfit(`number ${value}`);
    return;
  }
  if (typeof value !== (scalar === 'bytes' ? 'string' : scalar)) throw misfit();
  const problem = scalar === 'bytes' ? base64Problem(value as string) : undefined;
  if (problem !== undefined) throw new Error(problem);
}

function nameOf(type: GoType): string {
  if ('scalar' in type) return type.name;
  if ('struct' in type) return type.struct;
  return 'items' in type ? `[]${nameOf(type.items)}` : `map[string]${nameOf(type.values)}`;
}
