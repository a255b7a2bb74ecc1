import { isAbsolute } from 'node:path';
import { formatDuration } from '#apimachinery/runtime/duration';
import { duplicate, type FieldError, invalid, notSupported, required, tooMany } from '#apimachinery/validation/field';
import { nameIsDNSSubdomain } from '#apimachinery/validation/names';
import { type ServiceConnection, readKubeconfig } from '#apiserver/network/webhook/kubeconfig';
import type { AuthorizerConfig } from '#cmd/server-config';
import type { SubjectAccessReviewSpec } from '#plugins/authorization/webhook';
import { compileExpression, resultTypes } from './cel-expressions.ts';
import { FieldReader, parseStructured } from './structured-file.ts';

const types = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook'];
/** Built-in types. ABAC is missing, because the file cannot name a policy file. */
const builtIn = ['AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC'] as const;
const repeatable = 'Webhook';
const maxTimeoutMs = 30_000;
const maxMatchConditions = 64;

interface WebhookFields {
  readonly name: string;
  readonly timeoutMs: number;
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  readonly version: string;
  readonly failurePolicy: string;
  readonly kubeconfig: string;
  readonly matches: ((review: SubjectAccessReviewSpec) => boolean) | undefined;
}

/**
 * Reads the file of `--authorization-config`, of kind AuthorizationConfiguration: an ordered list of authorizers. Rejects with all
 * problems, one per line. Upstream: apiserver/pkg/apis/apiserver/validation/validation.go (ValidateAuthorizationConfiguration).
 */
export async function readAuthorizationConfiguration(text: string): Promise<AuthorizerConfig[]> {
  const errors: FieldError[] = [];
  const root = new FieldReader(
    parseStructured(text, 'apiserver.config.k8s.io', 'AuthorizationConfiguration', ['v1', 'v1beta1', 'v1alpha1']),
    undefined,
    errors,
  );
  const readers = root.objects('authorizers');
  if (readers.length === 0) errors.push(required(root.at('authorizers'), 'at least one authorization mode must be defined'));
  const seenTypes = new Set<string>();
  const seenNames = new Set<string>();
  const found = readers.map((reader) => {
    const type = reader.requiredText('type');
    if (type !== '' && !types.includes(type)) errors.push(notSupported(reader.at('type'), type, types));
    if (seenTypes.has(type) && type !== repeatable) errors.push(duplicate(reader.at('type'), type));
    seenTypes.add(type);
    const name = reader.requiredText('name');
    if (seenNames.has(name)) errors.push(duplicate(reader.at('name'), name));
    seenNames.add(name);
    const wrong = name === '' ? [] : nameIsDNSSubdomain(name, false);
    if (wrong.length > 0) errors.push(invalid(reader.at('name'), name, `authorizer name is invalid: ${wrong.join(', ')}`));
    if (type === 'ABAC') errors.push(invalid(reader.at('type'), type, 'ABAC is available only by --authorization-mode'));
    if (type === 'Webhook' && !reader.has('webhook')) errors.push(required(reader.at('webhook'), 'required when type=Webhook'));
    if (type !== 'Webhook' && reader.has('webhook'))
      errors.push(invalid(reader.at('webhook'), 'non-null', 'may only be specified when type=Webhook'));
    const webhook = reader.has('webhook') ? readWebhook(name, reader, errors) : undefined;
    reader.done();
    return { type, name, webhook };
  });
  root.done();
  if (errors.length > 0) throw new Error(errors.map(String).join('\n'));
  const misnamed = found.filter(({ type, name }) => type !== repeatable && name !== type.toLowerCase());
  if (misnamed.length > 0)
    throw new Error(
      misnamed.map(({ type, name }) => `expected name ${type.toLowerCase()} for authorizer ${type} instead of ${name}`).join('\n'),
    );
  return Promise.all(found.map(async ({ type, webhook }) => (webhook ? connect(webhook) : { type: type as (typeof builtIn)[number] })));
}

async function connect({ version, failurePolicy, kubeconfig, ...fields }: WebhookFields): Promise<AuthorizerConfig> {
  const connection: ServiceConnection = await readKubeconfig(kubeconfig);
  return {
    type: 'Webhook',
    webhook: { ...fields, version: version as 'v1' | 'v1beta1', failurePolicy: failurePolicy as 'NoOpinion' | 'Deny', connection },
  };
}

function readWebhook(name: string, authorizer: FieldReader, errors: FieldError[]): WebhookFields {
  const reader = authorizer.object('webhook');
  const ttl = (field: string, cacheField: string, otherwise: number): number => {
    const isCached = reader.flag(cacheField, true);
    const value = reader.duration(field) ?? otherwise;
    if (value <= 0) errors.push(invalid(reader.at(field), formatDuration(value), 'must be > 0s'));
    return isCached ? value : 0;
  };
  const authorizedTtlMs = ttl('authorizedTTL', 'cacheAuthorizedRequests', 300_000);
  const unauthorizedTtlMs = ttl('unauthorizedTTL', 'cacheUnauthorizedRequests', 30_000);
  const timeoutMs = reader.duration('timeout');
  if (timeoutMs === undefined) errors.push(required(reader.at('timeout')));
  else if (timeoutMs <= 0 || timeoutMs > maxTimeoutMs)
    errors.push(invalid(reader.at('timeout'), formatDuration(timeoutMs), 'must be > 0s and <= 30s'));
  const oneOf = (field: string, values: readonly string[]): string => {
    const value = reader.requiredText(field);
    if (value !== '' && !values.includes(value)) errors.push(notSupported(reader.at(field), value, values));
    return value;
  };
  const version = oneOf('subjectAccessReviewVersion', ['v1', 'v1beta1']);
  const failurePolicy = oneOf('failurePolicy', ['NoOpinion', 'Deny']);
  const matches = readMatchConditions(reader, authorizer, errors);
  const info = reader.object('connectionInfo');
  const type = info.requiredText('type');
  const kubeconfig = info.text('kubeConfigFile');
  if (type === 'InClusterConfig')
    errors.push(invalid(info.at('type'), type, 'is not supported: the server does not run inside a cluster; use KubeConfigFile'));
  else if (type !== '' && type !== 'KubeConfigFile')
    errors.push(notSupported(info.at('type'), type, ['InClusterConfig', 'KubeConfigFile']));
  else if (type !== '' && kubeconfig === '') errors.push(required(info.at('kubeConfigFile')));
  else if (kubeconfig !== '' && !isAbsolute(kubeconfig))
    errors.push(invalid(info.at('kubeConfigFile'), kubeconfig, 'must be an absolute path'));
  info.done();
  reader.done();
  return { name, timeoutMs: timeoutMs ?? 0, authorizedTtlMs, unauthorizedTtlMs, version, failurePolicy, kubeconfig, matches };
}

/**
 * Compiles the match conditions: the webhook is called only for requests that match all of them. The function throws if a condition cannot
 * be evaluated and none is false.
 */
function readMatchConditions(reader: FieldReader, authorizer: FieldReader, errors: FieldError[]): WebhookFields['matches'] {
  const conditions = reader.objects('matchConditions');
  // Upstream's path of a condition lacks the webhook.
  const path = authorizer.at('matchConditions');
  const isTooMany = conditions.length > maxMatchConditions;
  if (isTooMany) errors.push(tooMany(path, conditions.length, maxMatchConditions));
  const version = reader.text('matchConditionSubjectAccessReviewVersion');
  const versionPath = reader.at('matchConditionSubjectAccessReviewVersion');
  if (conditions.length > 0 && version === '') errors.push(required(versionPath, 'required if match conditions are specified'));
  else if (version !== '' && version !== 'v1') errors.push(notSupported(versionPath, version, ['v1']));
  const seen = new Set<string>();
  const compiled = conditions.flatMap((condition, i) => {
    const text = condition.text('expression');
    condition.done();
    if (isTooMany) return [];
    const at = path.index(i).child('expression');
    if (text.trim() === '') {
      errors.push(required(at, ''));
      return [];
    }
    if (seen.has(text)) {
      errors.push(duplicate(at, text));
      return [];
    }
    seen.add(text);
    return compileExpression('request', text, resultTypes.boolean, at, errors) ?? [];
  });
  if (compiled.length === 0) return undefined;
  return (review) => {
    const json = reviewJson(review);
    let failure: Error | undefined;
    for (const condition of compiled) {
      try {
        if (condition(json) !== true) return false;
      } catch (error) {
        failure ??= error as Error;
      }
    }
    if (failure) throw failure;
    return true;
  };
}

/** Converts a spec to JSON with the fields that v1 always has, and with v1's name of the groups. */
function reviewJson({ resourceAttributes, nonResourceAttributes, ...review }: SubjectAccessReviewSpec): object {
  const { group, groups, ...rest } = review as SubjectAccessReviewSpec & { readonly group?: readonly string[] };
  const empty = { namespace: '', verb: '', group: '', version: '', resource: '', subresource: '', name: '' };
  return {
    user: '',
    uid: '',
    extra: {},
    ...rest,
    groups: groups ?? group ?? [],
    ...(resourceAttributes && { resourceAttributes: { ...empty, ...resourceAttributes } }),
    ...(nonResourceAttributes && { nonResourceAttributes }),
  };
}
