import { randomUUID } from 'node:crypto';
import { type Attributes, type GroupVersionKind, type KubeObject, quote, type Status } from 'kubenest/sdk';
import { chunkedFormsOf, keysOf, startSteps, type Steps } from '#sdk/internal';
import type { Invocation } from './hook.ts';
import type { WebhookSpec } from './webhook-types.ts';

export type ReviewVersion = 'v1' | 'v1beta1';

/** The request to a webhook and the data to verify its response. */
export interface Review {
  readonly version: ReviewVersion;
  readonly uid: string;
  /** JSON of the AdmissionReview. */
  readonly body: string;
}

/** JSON of a request's objects in the version that the webhook expects; `null` if there is none. */
export interface ReviewObjects {
  readonly object: string;
  readonly oldObject: string;
}

/** Encodes the objects of a request in the version that the webhook expects. Large objects take several turns of the event loop. */
export async function reviewObjectsOf({ forms, object, oldObject }: Attributes, kind: GroupVersionKind): Promise<ReviewObjects> {
  const encoded = async (one: KubeObject | undefined): Promise<string> =>
    one === undefined ? 'null' : startSteps(textSteps(chunkedFormsOf(forms).encodeSteps(one, kind)));
  return { object: await encoded(object), oldObject: await encoded(oldObject) };
}

function* textSteps(line: Steps<Buffer>): Steps<string> {
  return (yield* line).toString('utf8').trimEnd();
}

/** A validated response of a webhook. */
export interface Answer {
  readonly allowed: boolean;
  readonly status: Partial<Status> | undefined;
  /** The unparsed JSON patch; empty if there is none. */
  readonly patch: Buffer;
  readonly patchType: string;
  readonly auditAnnotations: readonly (readonly [key: string, value: string])[];
  readonly warnings: readonly string[];
}

/** Returns the first review version that the webhook and the server support. Throws if there is none. */
export function reviewVersionOf({ admissionReviewVersions = [] }: WebhookSpec): ReviewVersion {
  const version = admissionReviewVersions.find((one) => one === 'v1' || one === 'v1beta1');
  if (!version) throw new Error('webhook does not accept known AdmissionReview versions (v1, v1beta1)');
  return version as ReviewVersion;
}

/** Builds a review. Upstream: plugin/webhook/request/admissionreview.go. */
export function newReview(request: Attributes, { resource, kind }: Invocation, version: ReviewVersion, objects: ReviewObjects): Review {
  const uid = randomUUID();
  const { user, subresource, name, namespace } = request;
  const head = JSON.stringify({
    uid,
    kind,
    resource,
    ...(subresource && { subResource: subresource }),
    requestKind: request.kind,
    requestResource: request.resource,
    ...(subresource && { requestSubResource: subresource }),
    ...(name && { name }),
    ...(namespace && { namespace }),
    operation: request.operation,
    userInfo: {
      ...(user.name && { username: user.name }),
      ...(user.uid && { uid: user.uid }),
      ...(user.groups.length > 0 && { groups: user.groups }),
      ...(user.extra && Object.keys(user.extra).length > 0 && { extra: user.extra }),
    },
  });
  const tail = JSON.stringify({ dryRun: request.dryRun, options: Object.keys(request.options).length > 0 ? request.options : null });
  const asked = `${head.slice(0, -1)},"object":${objects.object},"oldObject":${objects.oldObject},${tail.slice(1)}`;
  return { version, uid, body: `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/${version}","request":${asked}}\n` };
}

/** Validates a response, and yields to the event loop. Throws an Error if it is invalid. Upstream: VerifyAdmissionResponse. */
export function* readAnswerSteps({ version, uid }: Review, review: Readonly<Record<string, unknown>>, isMutating: boolean): Steps<Answer> {
  const response = fieldsOf(review['response']);
  if (!response) throw new Error('webhook response was absent');
  if (version === 'v1') checkV1(response, review, uid, isMutating);
  const patch = Buffer.from(isMutating ? textOf(response['patch']) : '', 'base64');
  return {
    allowed: response['allowed'] === true,
    status: fieldsOf(response['status']) as Partial<Status> | undefined,
    patch,
    patchType: version === 'v1' ? textOf(response['patchType']) : 'JSONPatch',
    auditAnnotations: yield* textsOf(response['auditAnnotations']),
    warnings: Array.isArray(response['warnings']) ? response['warnings'].filter((text): text is string => typeof text === 'string') : [],
  };
}

function checkV1(response: Fields, review: Fields, uid: string, isMutating: boolean): void {
  const answered = textOf(response['uid']);
  if (answered !== uid) throw new Error(`expected response.uid=${quote(uid)}, got ${quote(answered)}`);
  const apiVersion = textOf(review['apiVersion']);
  const kind = textOf(review['kind']);
  if (apiVersion !== 'admission.k8s.io/v1' || kind !== 'AdmissionReview') {
    const slash = apiVersion.indexOf('/');
    const got = `${slash < 0 ? `/${apiVersion}` : apiVersion}, Kind=${kind}`;
    throw new Error(`expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${got}`);
  }
  const hasPatch = textOf(response['patch']) !== '';
  const type = response['patchType'];
  const hasType = type !== undefined && type !== null;
  if (!isMutating) {
    if (hasPatch) throw new Error('validating webhook may not return response.patch');
    if (hasType) throw new Error('validating webhook may not return response.patchType');
    return;
  }
  if (hasPatch && !hasType) throw new Error('webhook returned response.patch but not response.patchType');
  if (!hasPatch && hasType) throw new Error('webhook returned response.patchType but not response.patch');
  if (type === '') throw new Error('webhook returned invalid response.patchType of ""');
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Number of texts that are read between two yields. */
const textsPerStep = 1_024;

function* textsOf(value: unknown): Steps<[string, string][]> {
  const fields = fieldsOf(value) ?? {};
  // Listing the keys of a wide object takes as long as parsing it, unless they are cached.
  const texts: [string, string][] = [];
  for (const [i, key] of keysOf(fields).entries()) {
    if (i % textsPerStep === 0) yield;
    const text = fields[key];
    if (typeof text === 'string') texts.push([key, text]);
  }
  return texts;
}
