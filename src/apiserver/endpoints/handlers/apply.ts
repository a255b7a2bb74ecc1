import { newBadRequest, newConflict } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import { groupVersionString } from '#apimachinery/meta/types';
import { jsonKind } from '#apimachinery/patch/json-patch';
import { isJsonObject, type JsonObject } from '#apimachinery/patch/own-property';
import { parseCborMap } from '#apimachinery/runtime/cbor/cbor';
import { deepCopy, deepCopySteps } from '#apimachinery/runtime/copy';
import { DecodeError } from '#apimachinery/runtime/json/json';
import { JsonSyntaxError } from '#apimachinery/runtime/json/json-syntax';
import type { Pace } from '#apimachinery/runtime/pace';
import { workOn } from '#apimachinery/runtime/steps';
import { type ParsedYaml, YamlError } from '#apimachinery/runtime/yaml/yaml';
import type { RequestContext } from '#apiserver/request/request-context';
import { readYaml } from '#apiserver/endpoints/yaml/yaml-thread';
import type { Stored } from '#apiserver/registry/write';
import { managingFields } from './managing-fields.ts';
import type { WriteQuery } from './query-options.ts';
import type { ResourceEndpoint } from './resource-endpoint.ts';
import { warnOf } from './field-validation.ts';
import { newWriteRequest } from './write-request.ts';
import { ensureNameMatches } from '#apiserver/registry/name-scope';
import { ensureNamespaceMatches } from '#apiserver/registry/namespace-scope';

/** Encoding of an applied configuration. YAML includes JSON. */
export type AppliedForm = 'application/yaml' | 'application/cbor';

export interface AppliedBody {
  readonly form: AppliedForm;
  readonly bytes: Buffer;
}

/** Applies a configuration (server-side apply); creates a missing object. Upstream: endpoints/handlers/patch.go (applyPatcher). */
export async function applyObject(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  body: AppliedBody,
  options: WriteQuery,
): Promise<Stored> {
  const { namespace, name } = context.info;
  const { configuration, strictErrors } = await readApplied(body);
  const request = newWriteRequest(context, endpoint, options, body.bytes.length);
  return endpoint.store.update(
    request,
    name,
    async (existing, pace) => {
      const live = existing ?? newEmptyObject(endpoint);
      const liveVersioned = endpoint.conversion && existing ? endpoint.conversion.fromStorage(live) : live;
      const applied = await copyAt(pace, configuration);
      const how = [liveVersioned, applied, options.fieldManager, options.force ?? false] as const;
      const merged = await managingFields(
        endpoint,
        pace,
        (manager) => manager.apply(...how),
        (manager) => manager.applySteps(...how),
      );
      checkApplied(context, strictErrors, options);
      // A merge shares parts with the stored object. A new object must not be copied: its defaults may share parts of it (Job).
      const next = existing ? await copyAt(pace, merged ?? liveVersioned) : (merged ?? liveVersioned);
      await pace.rest();
      if (!existing && next.metadata.uid) {
        throw newConflict(
          endpoint.store.groupResource,
          name,
          `uid mismatch: the provided object specified uid ${next.metadata.uid}, and no existing object was found`,
        );
      }
      ensureNamespaceMatches(endpoint.definition, namespace, next);
      ensureNameMatches(name, next);
      const object = endpoint.conversion ? endpoint.conversion.toStorage(next) : next;
      context.span?.event('About to check admission control');
      if (existing) await request.admit('UPDATE', object, existing, pace);
      return object;
    },
    { strategy: endpoint.strategy, forceAllowCreate: endpoint.subresource === '' },
  );
}

/** Copies an object at a pace. */
export function copyAt(pace: Pace, object: KubeObject): KubeObject | Promise<KubeObject> {
  return pace.either(
    () => deepCopy(object),
    () => deepCopySteps(object),
  );
}

export interface Applied {
  /** Parsed, not decoded configuration; copied for each attempt. */
  readonly configuration: KubeObject;
  /** Errors for `checkApplied`. */
  readonly strictErrors: readonly string[];
}

/** Parses an applied configuration. Rejects with BadRequest. */
export async function readApplied(body: AppliedBody): Promise<Applied> {
  const { object, errors } = await parseApplied(body);
  return { configuration: object as unknown as KubeObject, strictErrors: errors };
}

/** Applies `fieldValidation` to a configuration after its merge. Throws BadRequest. */
export function checkApplied(context: RequestContext, strictErrors: readonly string[], { fieldValidation }: WriteQuery): void {
  if (fieldValidation === 'Warn') warnOf(context, strictErrors);
  if (fieldValidation === 'Strict' && strictErrors.length > 0)
    throw newBadRequest(`error strict decoding YAML: ${strictErrors.join(', ')}`);
}

interface ParsedConfiguration {
  readonly object: JsonObject;
  readonly errors: readonly string[];
}

async function parseApplied({ form, bytes }: AppliedBody): Promise<ParsedConfiguration> {
  try {
    if (form === 'application/yaml') return await parseAppliedYaml(bytes);
    return { object: await workOn(bytes.length, parseCborMap(bytes, true)), errors: [] };
  } catch (error) {
    if (error instanceof DecodeError) throw newBadRequest(`error decoding YAML: ${error.message}`);
    throw error;
  }
}

async function parseAppliedYaml(bytes: Buffer): Promise<ParsedConfiguration> {
  const { value, duplicateError } = await convertYaml(bytes);
  const object = value ?? {};
  if (!isJsonObject(object))
    throw new DecodeError(
      `error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${jsonKind(object)} into Go value of type map[string]interface {}`,
    );
  return { object, errors: duplicateError === undefined ? [] : [`error converting YAML to JSON: ${duplicateError}`] };
}

async function convertYaml(bytes: Buffer): Promise<ParsedYaml> {
  try {
    return await readYaml(bytes);
  } catch (error) {
    if (error instanceof DecodeError || error instanceof YamlError || error instanceof JsonSyntaxError)
      throw new DecodeError(`error converting YAML to JSON: ${error.message}`, { cause: error });
    throw error;
  }
}

/** Returns the object that a configuration creates. Upstream: endpoints/handlers/patch.go (applyPatcher.createNewObject). */
function newEmptyObject({ kind }: ResourceEndpoint): KubeObject {
  return { kind: kind.kind, apiVersion: groupVersionString(kind), metadata: {} };
}
