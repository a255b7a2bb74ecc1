import type { Buffer } from 'node:buffer';
import { newBadRequest } from '#apimachinery/api/errors';
import { type GroupVersionKind, groupVersionString, isGroupVersion, type KubeObject, parseGroupVersion } from '#apimachinery/meta/types';
import type { Decoded } from '#apimachinery/runtime/decode';
import type { StructType } from '#apimachinery/runtime/schema';
import type { Steps } from '#apimachinery/runtime/steps';
import { completeKind, foldedTypeMeta, isRegistered, type KindLookup, kindProblem, noKindRegistered } from '#apiserver/registry/kinds';
import type { EndpointRestrictions } from './negotiation.ts';

/** Expected object of a body. */
export interface ExpectedBody {
  readonly kind: GroupVersionKind;
  readonly type: StructType;
  /** Decoder of custom resources. They keep the kind that was sent, which their own validation checks. */
  readonly decode?: ((document: Record<string, unknown>) => Steps<Decoded<KubeObject>>) | undefined;
  readonly kinds: KindLookup;
  readonly restrictions: EndpointRestrictions;
  /** True if errors are returned without a note on the expected type, as for DeleteOptions. */
  readonly returnsPlainErrors?: boolean | undefined;
  /** Returns true for other accepted group versions of the kind (DeleteOptions and Eviction have several). */
  readonly alsoAccepts?: ((kind: GroupVersionKind) => boolean) | undefined;
}

export interface DecodedBody {
  readonly object: KubeObject;
  /**
   * Errors such as `unknown field "spec.x"` and `duplicate field "data.a"`; can be iterated once. They are formatted lazily,
   * because there may be 200,000.
   */
  readonly strictErrors: Iterable<string>;
  /** Kind as sent of a custom resource or of another version, whose apiVersion is checked after the fields: `applyFieldValidation`. */
  readonly sent?: GroupVersionKind;
}

/** Returns the kind of a parsed document, completed by the expected one. */
export function kindOf(raw: unknown, bytes: Buffer, expected: ExpectedBody, order: 'given' | 'sorted'): GroupVersionKind {
  const { apiVersion, kind, problem } = foldedTypeMeta(raw, order);
  if (problem) throw unrecognized(bytes, expected, `couldn't get version/kind; json parse error: ${problem}`);
  if (apiVersion && !isGroupVersion(apiVersion)) throw unrecognized(bytes, expected, `unexpected GroupVersion string: ${apiVersion}`);
  return completeKind(apiVersion, kind, expected.kind);
}

/** Returns the kind of a custom resource, which may be any. */
export function customKindOf(object: Partial<KubeObject> | null, bytes: Buffer, expected: ExpectedBody): GroupVersionKind {
  if (!object?.kind) throw unrecognized(bytes, expected, `Object 'Kind' is missing in '${bytes.toString('utf8')}'`);
  return { ...parseGroupVersion(object.apiVersion ?? ''), kind: object.kind };
}

/** Returns the error of an object of another kind than the expected one. */
export function kindError(kind: GroupVersionKind, expected: ExpectedBody): Error | undefined {
  const want = expected.kind;
  if (kind.kind === want.kind && kind.group === want.group && kind.version === want.version) return undefined;
  if (expected.alsoAccepts?.(kind)) return undefined;
  const known = !expected.returnsPlainErrors && isRegistered(expected.kinds, kind, want);
  if (known && kind.kind === want.kind) {
    return newBadRequest(
      `the API version in the data (${groupVersionString(kind)}) does not match the expected API version (${groupVersionString(want)})`,
    );
  }
  return cannotBeHandled(
    kind,
    expected,
    known ? kindProblem(expected.kinds, kind, want) : noKindRegistered(kind.kind, groupVersionString(kind)),
  );
}

/** Returns the type of another kind than the expected one; throws the problem if it is not known. */
export function typeOfOther(kind: GroupVersionKind, expected: ExpectedBody, problem: Error): StructType {
  const isKnown = !expected.returnsPlainErrors && isRegistered(expected.kinds, kind, expected.kind);
  const type = isKnown ? expected.kinds.typeOf(kind) : undefined;
  if (!type) throw problem;
  return type;
}

/** Returns the error of a body that is not an object of the expected kind. */
export function cannotBeHandled(kind: GroupVersionKind, expected: ExpectedBody, cause: string): Error {
  if (expected.returnsPlainErrors) return newBadRequest(cause);
  return newBadRequest(`${kind.kind} in version ${JSON.stringify(kind.version)} cannot be handled as a ${expected.kind.kind}: ${cause}`);
}

const summaryBytes = 30;

/** Returns the error of a body that cannot be parsed, or has no kind. */
export function unrecognized(bytes: Buffer, expected: ExpectedBody, cause: string): Error {
  if (expected.returnsPlainErrors) return newBadRequest(cause);
  return newBadRequest(`the object provided is unrecognized (must be of type ${expected.kind.kind}): ${cause} (${summarize(bytes)})`);
}

function summarize(bytes: Buffer): string {
  if (bytes.length === 0) return '<empty>';
  const head = bytes.subarray(0, summaryBytes);
  const text = bytes[0] === 123 ? head.toString('utf8') : head.toString('hex');
  return bytes.length > summaryBytes ? `${text} ...` : text;
}
