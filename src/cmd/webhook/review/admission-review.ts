import { Buffer } from 'node:buffer';
import { newBadRequest } from '#apimachinery/api/errors';
import type { GroupVersionKind, GroupVersionResource, Status } from '#apimachinery/meta/types';
import type { JsonPatchOperation } from '#apimachinery/patch/create-patch';
import { isJsonObject, type JsonObject } from '#apimachinery/patch/own-property';
import { DecodeError, encodeJson, parseJsonSteps } from '#apimachinery/runtime/json/json';
import { JsonSyntaxError } from '#apimachinery/runtime/json/json-syntax';
import { quote } from '#apimachinery/runtime/quote';
import { workOn } from '#apimachinery/runtime/steps';
import type { Operation } from '#apiserver/request/admission-context';
import type { UserInfo } from '#apiserver/request/user-info';

const apiVersion = 'admission.k8s.io/v1';
const kind = 'AdmissionReview';
const operations: readonly Operation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];

/** The request of an AdmissionReview. Upstream: api/admission/v1/types.go (AdmissionRequest). */
export interface ReviewRequest {
  readonly uid: string;
  /** Kind and resource of the objects in the review. */
  readonly kind: GroupVersionKind;
  /** Kind and resource of the client's request, which differ if the server converted its objects for a rule. */
  readonly requestKind: GroupVersionKind;
  readonly requestResource: GroupVersionResource;
  readonly subresource: string;
  readonly name: string;
  readonly namespace: string;
  readonly operation: Operation;
  readonly user: UserInfo;
  /** Parsed documents; undefined if the request has none. */
  readonly object: JsonObject | undefined;
  readonly oldObject: JsonObject | undefined;
  readonly dryRun: boolean;
  readonly options: JsonObject;
}

/** The verdict about a review. */
export interface Verdict {
  /** Status of a denial; undefined: the request is allowed. */
  readonly status?: Status | undefined;
  readonly warnings?: readonly string[] | undefined;
  readonly patch?: readonly JsonPatchOperation[] | undefined;
  readonly annotations?: Iterable<readonly [key: string, value: string]> | undefined;
}

/** Reads a review of version v1; a large one is parsed in chunks. Rejects with BadRequest, with the field at fault. */
export async function readReview(body: Buffer): Promise<ReviewRequest> {
  const review = new Fields(await documentOf(body), '');
  const actual = { apiVersion: review.text('apiVersion'), kind: review.text('kind') };
  if (actual.apiVersion !== apiVersion || actual.kind !== kind)
    throw newBadRequest(`expected ${apiVersion}, Kind=${kind}, got ${actual.apiVersion}, Kind=${actual.kind}`);
  const request = review.object('request');
  if (!request) throw newBadRequest('request is missing');
  const kindOf = (at: Fields): GroupVersionKind => ({ ...groupVersion(at), kind: at.needed('kind') });
  const resourceOf = (at: Fields): GroupVersionResource => ({ ...groupVersion(at), resource: at.needed('resource') });
  const ownKind = request.object('kind');
  const ownResource = request.object('resource');
  if (!ownKind || !ownResource) throw newBadRequest('request.kind and request.resource must be objects');
  const reviewed = { kind: kindOf(ownKind), resource: resourceOf(ownResource) };
  const operation = request.needed('operation') as Operation;
  if (!operations.includes(operation)) throw newBadRequest(`request.operation: unknown operation ${quote(operation)}`);
  const requestKind = request.object('requestKind');
  const requestResource = request.object('requestResource');
  return {
    uid: request.needed('uid'),
    kind: reviewed.kind,
    requestKind: requestKind ? kindOf(requestKind) : reviewed.kind,
    requestResource: requestResource ? resourceOf(requestResource) : reviewed.resource,
    subresource: request.text('requestSubResource') || request.text('subResource'),
    name: request.text('name'),
    namespace: request.text('namespace'),
    operation,
    user: userOf(request.object('userInfo')),
    object: request.object('object')?.values,
    oldObject: request.object('oldObject')?.values,
    dryRun: request.flag('dryRun'),
    options: request.object('options')?.values ?? {},
  };
}

/** Returns the JSON of the answered review. */
export function answeredReview(uid: string, { status, warnings, patch = [], annotations }: Verdict): string {
  const marked = Object.fromEntries([...(annotations ?? [])].map(([key, value]) => [annotationKey(key), value]));
  return JSON.stringify({
    apiVersion,
    kind,
    response: {
      uid,
      allowed: status === undefined,
      ...(status && { status }),
      ...(warnings?.length && { warnings }),
      ...(patch.length > 0 && { patchType: 'JSONPatch', patch: Buffer.from(encodeJson(patch)).toString('base64') }),
      ...(Object.keys(marked).length > 0 && { auditAnnotations: marked }),
    },
  });
}

/**
 * Returns the key as the server accepts it from a webhook: it adds the webhook's name and a slash, and another slash would make the key
 * invalid. Upstream: plugin/webhook/mutating/dispatcher.go (AddAnnotation).
 */
function annotationKey(key: string): string {
  return key.replaceAll('/', '.');
}

async function documentOf(body: Buffer): Promise<JsonObject> {
  let value: unknown;
  try {
    ({ value } = await workOn(body.length, parseJsonSteps(body)));
  } catch (error) {
    if (!(error instanceof JsonSyntaxError || error instanceof DecodeError)) throw error;
    throw newBadRequest(`the body is not JSON: ${error.message}`);
  }
  if (!isJsonObject(value)) throw newBadRequest(`the body is not a JSON object of kind ${kind}`);
  return value;
}

function groupVersion(at: Fields): { readonly group: string; readonly version: string } {
  return { group: at.text('group'), version: at.needed('version') };
}

function userOf(info: Fields | undefined): UserInfo {
  if (!info) return { name: '', groups: [] };
  const uid = info.text('uid');
  const extra = info.object('extra');
  return {
    name: info.text('username'),
    groups: info.texts('groups'),
    ...(uid !== '' && { uid }),
    ...(extra && { extra: Object.fromEntries(Object.keys(extra.values).map((key) => [key, extra.texts(key)])) }),
  };
}

/** Members of a JSON object whose types are checked; `null` counts as missing. */
class Fields {
  constructor(
    readonly values: JsonObject,
    private readonly path: string,
  ) {}

  text(name: string): string {
    const value = this.#value(name) ?? '';
    if (typeof value !== 'string') throw this.#misfit(name, 'a string');
    return value;
  }

  /** Returns a string that must not be empty. */
  needed(name: string): string {
    const value = this.text(name);
    if (value === '') throw newBadRequest(`${this.path}${name} is missing`);
    return value;
  }

  texts(name: string): string[] {
    const value = this.#value(name) ?? [];
    if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) throw this.#misfit(name, 'a list of strings');
    return value as string[];
  }

  flag(name: string): boolean {
    const value = this.#value(name) ?? false;
    if (typeof value !== 'boolean') throw this.#misfit(name, 'a boolean');
    return value;
  }

  object(name: string): Fields | undefined {
    const value = this.#value(name) ?? undefined;
    if (value === undefined) return undefined;
    if (!isJsonObject(value)) throw this.#misfit(name, 'an object');
    return new Fields(value, `${this.path}${name}.`);
  }

  #value(name: string): unknown {
    return Object.hasOwn(this.values, name) ? this.values[name] : undefined;
  }

  #misfit(name: string, type: string): Error {
    return newBadRequest(`${this.path}${name} must be ${type}`);
  }
}
