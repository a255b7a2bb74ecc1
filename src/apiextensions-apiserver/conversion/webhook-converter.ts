import { randomUUID } from 'node:crypto';
import { newGenericServerResponse, newStatus, StatusError } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import { goTypeName } from '#apimachinery/patch/format-value';
import { jsonKind } from '#apimachinery/patch/json-patch';
import { isJsonObject } from '#apimachinery/patch/own-property';
import { deepCopy } from '#apimachinery/runtime/copy';
import { deepEqual } from '#apimachinery/runtime/equality';
import { encodeJson } from '#apimachinery/runtime/json/json';
import { parseYaml } from '#apimachinery/runtime/yaml/yaml';
import { aggregate, Path } from '#apimachinery/validation/field';
import { validateAnnotations, validateLabels } from '#apimachinery/validation/object-meta';
import { dialErrorText } from '#apiserver/endpoints/handlers/dial-error';
import { noKindRegistered, typeMetaProblem } from '#apiserver/registry/kinds';
import type { ServiceResolver } from '#apiserver/network/service-resolver';
import { type WebhookClientConfig, webhookTarget } from '#apiserver/network/webhook/client-config';
import { noCredentials } from '#apiserver/network/webhook/kubeconfig';
import { JsonClient, WebhookError } from '#apiserver/network/webhook/json-client';
import type { CustomResourceDefinition, WebhookConversion } from '#apiextensions-apiserver/schema/apiextensions_v1.gen';
import type { ConversionFailureType, ConversionMetrics } from './conversion-metrics.ts';
import type { Converter } from './converter.ts';

/** Timeout of a conversion request in milliseconds. Upstream: apiserver/pkg/util/webhook/authentication.go. */
const timeoutMs = 30_000;
/** A list is one response. */
const maxAnswerBytes = 256 * 1024 * 1024;
const reviewGroup = 'apiextensions.k8s.io';
const reviewVersions = ['v1', 'v1beta1'];

/**
 * Converts objects by a webhook, all objects of other versions in one request. Only labels and annotations of the changed metadata are
 * used. Upstream: apiserver/conversion/webhook_converter.go.
 */
export class WebhookConverter implements Converter, Disposable {
  readonly #client: JsonClient;
  readonly #reviewVersion: string | undefined;

  /** `definition` is the name in metrics. */
  constructor(
    readonly definition: string,
    { clientConfig = {}, conversionReviewVersions = [] }: WebhookConversion,
    services: ServiceResolver,
    readonly metrics: ConversionMetrics,
  ) {
    this.#client = clientOf(clientConfig, services);
    this.#reviewVersion = conversionReviewVersions.find((version) => reviewVersions.includes(version));
  }

  async convert(objects: readonly KubeObject[], groupVersion: string): Promise<KubeObject[]> {
    const others = objects.filter(({ apiVersion }) => apiVersion !== groupVersion);
    const [first] = others;
    if (!first) return [...objects];
    const converted = await this.#measured(first, groupVersion, () => {
      const call = new ConversionCall(first);
      return call.results(
        others,
        groupVersion,
        (uid) => this.#ask(others, groupVersion, uid),
        (answer, uid) => this.#read(answer, uid),
      );
    });
    let next = 0;
    return objects.map((object) => (object.apiVersion === groupVersion ? object : converted[next++]!));
  }

  [Symbol.dispose](): void {
    this.#client[Symbol.dispose]();
  }

  async #measured<T>({ apiVersion }: KubeObject, groupVersion: string, convert: () => Promise<T>): Promise<T> {
    const began = performance.now();
    const observe = (failure: ConversionFailureType | undefined): void =>
      this.metrics.observe({
        definition: this.definition,
        from: versionOf(apiVersion ?? ''),
        to: versionOf(groupVersion),
        seconds: (performance.now() - began) / 1_000,
        failure,
      });
    try {
      const converted = await convert();
      observe(undefined);
      return converted;
    } catch (error) {
      if (error instanceof ConversionError) observe(error.type);
      throw error;
    }
  }

  /** Calls the webhook and returns the response. */
  async #ask(objects: readonly KubeObject[], desiredAPIVersion: string, uid: string): Promise<Buffer> {
    const version = this.#reviewVersion;
    if (version === undefined) throw new Error('no supported conversion review versions');
    const apiVersion = `${reviewGroup}/${version}`;
    const review = { kind: 'ConversionReview', apiVersion, request: { uid, desiredAPIVersion, objects }, response: emptyResponse };
    return this.#post(encodeJson(review));
  }

  /** Returns the converted objects in the response. */
  #read(answer: Buffer, uid: string): unknown {
    const review = reviewOf(answer);
    // As upstream, responses of v1beta1 are not checked.
    return this.#reviewVersion === 'v1' ? convertedObjects(review, `${reviewGroup}/v1`, uid) : convertedObjects(review);
  }

  async #post(json: string): Promise<Buffer> {
    try {
      return await this.#client.deliver(json);
    } catch (error) {
      if (error instanceof WebhookError && error.status !== 0) throw unexpectedStatus(error);
      const cause = error instanceof WebhookError && !error.isTimeout ? error.cause : error;
      const { connection, options } = this.#client;
      const { pathname, search } = connection.url;
      const place = JSON.stringify(`https://${options.authority}${pathname}${search}`);
      throw new Error(`Post ${place}: ${dialErrorText(cause)}`, { cause: error });
    }
  }
}

/** Returns the converter of a definition with the strategy Webhook. */
export function webhookConverterOf(
  { metadata: { name = '' }, spec }: CustomResourceDefinition,
  services: ServiceResolver,
  metrics: ConversionMetrics,
): WebhookConverter | undefined {
  const { strategy, webhook } = spec?.conversion ?? {};
  return strategy === 'Webhook' && webhook ? new WebhookConverter(name, webhook, services, metrics) : undefined;
}

/** Returns the version without its group. */
function versionOf(apiVersion: string): string {
  return apiVersion.slice(apiVersion.indexOf('/') + 1);
}

/** A failed conversion with its type for metrics. */
class ConversionError extends StatusError {
  constructor(
    readonly type: ConversionFailureType,
    message: string,
    cause?: unknown,
  ) {
    super(newStatus(500, '', message), { cause });
  }
}

const emptyResponse = { uid: '', convertedObjects: null, result: { metadata: {} } };

function clientOf(config: WebhookClientConfig, services: ServiceResolver): JsonClient {
  const { url, certificateAuthority, authority, endpoint, dial } = webhookTarget(config, services);
  url.searchParams.set('timeout', `${timeoutMs / 1_000}s`);
  const connection = {
    url,
    certificateAuthority,
    serverName: undefined,
    insecure: false,
    ...noCredentials,
  };
  return new JsonClient(connection, { timeoutMs, retryMs: 0, maxAnswerBytes, authority, endpoint, dial });
}

/**
 * Returns the error of a failed response: the message of a Status, but no other content, which may be secret. Upstream:
 * client-go/rest/request.go (transformResponse, Result.Error).
 */
function unexpectedStatus(error: WebhookError): Error {
  const status = error.answer && statusIn(error.answer);
  if (status !== undefined) return new Error(status, { cause: error });
  const { message } = newGenericServerResponse(error.status, 'POST', undefined, '', 'unknown', 0, true);
  return new Error(message, { cause: error });
}

function statusIn(answer: Buffer): string | undefined {
  try {
    const value: unknown = JSON.parse(answer.toString('utf8'));
    const isFailure = isJsonObject(value) && value['kind'] === 'Status' && value['status'] === 'Failure';
    return isFailure && typeof value['message'] === 'string' ? value['message'] : undefined;
  } catch {
    return undefined;
  }
}

/** Decodes a response. As upstream's codecs of apiextensions.k8s.io, it falls back to YAML. */
function reviewOf(answer: Buffer): Record<string, unknown> {
  if (answer.length === 0) throw new Error('0-length response with status code: 200 and content type: application/json');
  const review = parseYaml(answer).value;
  const problem = typeMetaProblem(review);
  if (problem !== undefined) throw new Error(`couldn't get version/kind; json parse error: ${problem}`);
  return isJsonObject(review) ? review : {};
}

/** Returns the error for a review of another version or kind. */
function wrongReview(apiVersion: string, kind: string, wanted: string): string {
  const isReview =
    kind === 'ConversionReview' && reviewVersions.includes(versionOf(apiVersion)) && apiVersion.startsWith(`${reviewGroup}/`);
  if (!isReview) return noKindRegistered(kind, apiVersion);
  return `converting (${versionOf(apiVersion)}.${kind}) to (${versionOf(wanted)}.${kind}): unknown conversion`;
}

/** Returns the converted objects of a response. Upstream: getConvertedObjectsFromResponse. */
function convertedObjects(review: Record<string, unknown>, apiVersion?: string, uid?: string): unknown {
  const { response } = review;
  if (apiVersion !== undefined && (review['apiVersion'] !== apiVersion || review['kind'] !== 'ConversionReview')) {
    throw new Error(wrongReview(String(review['apiVersion'] ?? ''), String(review['kind'] ?? ''), apiVersion));
  }
  if (!isJsonObject(response)) throw new Error('no response provided');
  if (uid !== undefined && response['uid'] !== uid) {
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response['uid'] ?? '')}`);
  }
  const { status = '', message = '' } = isJsonObject(response['result']) ? response['result'] : {};
  if (status !== 'Success') throw new Error(String(message) || `response.result.status was '${String(status)}', not 'Success'`);
  return response['convertedObjects'] ?? [];
}

/** Formats `apps/v1, Kind=Deployment`. */
function kindText(apiVersion: string, kind: string): string {
  return `${apiVersion}, Kind=${kind}`;
}

/**
 * Validates the response to one request. Its errors have upstream's messages for a single object: upstream converts the objects that it
 * reads one by one.
 */
class ConversionCall {
  /** Prefix of all messages. */
  readonly #subject: string;

  constructor(first: KubeObject) {
    this.#subject = `conversion webhook for ${kindText(first.apiVersion ?? '', String(first.kind))}`;
  }

  async results(
    originals: readonly KubeObject[],
    groupVersion: string,
    ask: (uid: string) => Promise<Buffer>,
    read: (answer: Buffer, uid: string) => unknown,
  ): Promise<KubeObject[]> {
    const uid = randomUUID();
    const answer = await ask(uid).catch((error: Error) => {
      throw this.#failure(`failed: ${error.message}`, 'conversion_webhook_call_failure', error);
    });
    let converted: unknown;
    try {
      converted = read(answer, uid);
    } catch (error) {
      throw this.#failure(`failed: ${(error as Error).message}`, 'conversion_webhook_malformed_response_failure', error);
    }
    const objects = Array.isArray(converted) ? (converted as unknown[]) : [];
    if (objects.length !== originals.length) {
      const counts = `returned ${objects.length} objects, expected ${originals.length}`;
      throw this.#failure(counts, 'conversion_webhook_partial_response_failure');
    }
    return originals.map((original, index) => this.#result(original, objects[index], groupVersion));
  }

  #result(original: KubeObject, converted: unknown, groupVersion: string): KubeObject {
    const at = 'returned invalid object at index 0';
    if (!isJsonObject(converted)) {
      const target = 'Go value of type map[string]interface {}';
      const message = converted === null ? 'unexpected end of JSON input' : `json: cannot unmarshal ${jsonKind(converted)} into ${target}`;
      throw new ConversionError('conversion_webhook_invalid_converted_object_failure', message);
    }
    const got = converted as unknown as KubeObject;
    if (got.apiVersion !== groupVersion) {
      const versions = `expected ${groupVersion}, received ${String(got.apiVersion ?? '')}`;
      throw this.#failure(`${at}: invalid groupVersion (${versions})`);
    }
    if (got.kind !== original.kind)
      throw this.#failure(`${at}: invalid kind (expected ${original.kind}, received ${String(got.kind ?? '')})`);
    const changed = identityChange(original, got);
    if (changed) throw this.#failure(`returned invalid object: ${changed}`);
    try {
      return { ...got, metadata: restoredMetadata(original.metadata, got.metadata) };
    } catch (error) {
      throw this.#failure(`returned invalid metadata: ${(error as Error).message}`, undefined, error);
    }
  }

  #failure(
    message: string,
    type: ConversionFailureType = 'conversion_webhook_invalid_converted_object_failure',
    cause?: unknown,
  ): ConversionError {
    return new ConversionError(type, `${this.#subject} ${message}`, cause);
  }
}

/** Returns the error about changed identity fields. Upstream: validateConvertedObject. */
function identityChange(original: KubeObject, converted: KubeObject): string | undefined {
  const metadata: unknown = converted.metadata;
  const got = isJsonObject(metadata) ? metadata : {};
  for (const [field, word] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const) {
    const before = original.metadata[field] ?? '';
    const after = got[field] ?? '';
    if (before !== after) return `must have the same ${word}: ${before} != ${String(after)}`;
  }
  return undefined;
}

/** Returns the original metadata with labels and annotations of the response. Upstream: restoreObjectMeta. */
function restoredMetadata(original: KubeObject['metadata'], answered: unknown): KubeObject['metadata'] {
  if (answered === undefined) throw new Error('missing metadata in converted object');
  if (!isJsonObject(answered)) throw new Error(`invalid metadata of type ${goTypeName(answered)} in converted object`);
  const restored = deepCopy(original);
  for (const field of ['labels', 'annotations'] as const) {
    const texts = stringsOf(answered[field], field);
    if (!texts) delete restored[field];
    else if (!deepEqual(texts, restored[field] ?? {})) {
      const errors =
        field === 'labels'
          ? validateLabels(texts, new Path('metadata').child('labels'))
          : validateAnnotations(texts, new Path('metadata').child('annotation'));
      if (errors.length > 0) throw new Error(aggregate(errors));
      restored[field] = texts;
    }
  }
  return restored;
}

function stringsOf(value: unknown, field: string): Record<string, string> | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isJsonObject(value)) throw new Error(`invalid metadata.${field} of type ${goTypeName(value)} in converted object`);
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== 'string')
      throw new Error(
        `metadata.${field}[${key}] must be a string, but is ${text === null ? '<nil>' : goTypeName(text)} in converted object`,
      );
  }
  return value as Record<string, string>;
}
