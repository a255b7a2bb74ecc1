import type { Buffer } from 'node:buffer';
import { newBadRequest } from '#apimachinery/api/errors';
import { decodeJsonPatchSteps, jsonKind } from '#apimachinery/patch/json-patch';
import { checkMergePatch } from '#apimachinery/patch/merge-patch';
import { isJsonObject, type JsonObject } from '#apimachinery/patch/own-property';
import { DecodeError, parseJsonSteps } from '#apimachinery/runtime/json/json';
import { JsonSyntaxError } from '#apimachinery/runtime/json/json-syntax';
import { parseWithRepeatedKeys, resolveRepeatedKeys } from '#apimachinery/runtime/json/repeated-keys';
import { strictErrors } from '#apimachinery/runtime/json/strict-errors';
import type { Steps } from '#apimachinery/runtime/steps';
import { readYaml } from '#apiserver/endpoints/yaml/yaml-thread';
import type { AuditContext } from '#apiserver/request/audit-context';
import type { RequestContext } from '#apiserver/request/request-context';
import type { PatchType } from './patch-types.ts';
import type { WriteQuery } from './query-options.ts';
import type { ResourceEndpoint } from './resource-endpoint.ts';

/** A patch of a request. */
export interface PatchInput {
  readonly context: RequestContext;
  readonly endpoint: ResourceEndpoint;
  readonly type: PatchType;
  readonly body: Buffer;
  readonly options: WriteQuery;
}

/** A parsed patch. */
export interface PatchContent {
  readonly parsed: unknown;
  readonly strictErrors: readonly string[];
  /** True if `parsed` has repeated keys, which upstream finds once more where they become part of the object. */
  readonly hasRepeatedKeys?: boolean;
}

/** Parses and checks a patch. Throws JsonSyntaxError, DecodeError or StatusError. */
function* parsePatch({ type, body, options }: PatchInput): Steps<PatchContent> {
  const { value, duplicateFields, repeatedKeys } = yield* parseJsonSteps(body);
  const validates = options.fieldValidation !== 'Ignore';
  if (type === 'application/json-patch+json') {
    const { operations, strictErrors } = yield* decodeJsonPatchSteps(value, { isStrict: validates, duplicateFields });
    if (!repeatedKeys) return { parsed: operations, strictErrors };
    const parsed = (yield* parseWithRepeatedKeys(body, repeatedKeys)) as readonly (JsonObject | null)[];
    for (const operation of parsed) if (operation) resolveRepeatedKeys(operation);
    return { parsed: parsed.map((operation) => operation ?? {}), strictErrors, hasRepeatedKeys: true };
  }
  const errors = strictErrors([], duplicateFields);
  if (type !== 'application/strategic-merge-patch+json') {
    if (validates && type === 'application/merge-patch+json') checkMergePatch(value);
    return { parsed: value, strictErrors: errors };
  }
  if (!isJsonObject(value) && value !== null)
    throw newBadRequest(`json: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`);
  return { parsed: value ?? {}, strictErrors: errors };
}

/** Parses a patch. Throws BadRequest for an invalid patch of its type. */
export function* readPatchContent(input: PatchInput): Steps<PatchContent> {
  const { type, options } = input;
  try {
    return yield* parsePatch(input);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError || error instanceof DecodeError)) throw error;
    const decoding = options.fieldValidation !== 'Ignore' && type !== 'application/strategic-merge-patch+json';
    if (!decoding && type === 'application/merge-patch+json') throw newBadRequest('Invalid JSON Patch');
    throw newBadRequest(decoding ? `error decoding patch: ${error.message}` : error.message);
  }
}

/** Records a patch of a request whose audit level wants it. */
export async function notePatch(audit: AuditContext, body: Buffer): Promise<void> {
  let patch: unknown;
  try {
    patch = (await readYaml(body)).value;
  } catch {
    // The body is neither JSON nor YAML; nothing is recorded, and the request is rejected later.
    return;
  }
  audit.requestPatch(patch);
}
