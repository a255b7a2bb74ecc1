/** Validation of flow schemas and priority levels. Upstream: pkg/apis/flowcontrol/validation/validation.go. */
import type { KubeObject } from '#apimachinery/meta/types';
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import {
  addErrors,
  duplicate,
  type FieldError,
  fieldPath,
  forbidden,
  invalid,
  notSupported,
  type Path,
  required,
  named,
} from '#apimachinery/validation/field';
import { nameIsDNSSubdomain, validateNamespaceName, validateServiceAccountName } from '#apimachinery/validation/names';
import { internalValue } from '#kubernetes/apis/core/validation/internal';
import { validateMetaAgain } from '#kubernetes/apis/core/validation/object-meta';
import { bootstrapTable } from '#kubernetes/controlplane/bootstrap';
import { structValue } from '#kubernetes/apis/struct-value';
import type {
  FlowSchema,
  FlowSchemaSpec,
  LimitedPriorityLevelConfiguration,
  PriorityLevelConfiguration,
  QueuingConfiguration,
} from '#kubernetes/schema/flowcontrol_v1.gen';

type PolicyRule = NonNullable<FlowSchemaSpec['rules']>[number];
type Subject = NonNullable<PolicyRule['subjects']>[number];
type ResourceRule = NonNullable<PolicyRule['resourceRules']>[number];

const maxPrecedence = 10_000;
const maxQueues = 10_000_000;
const maxHashBits = 60;
const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];
const kinds = ['Group', 'ServiceAccount', 'User'];
const namespaceIntro = "each member of this list must be '*' or a DNS-1123 label; ";
const spec = fieldPath('spec');

/** Returns the spec of a mandatory object, which cannot be changed. */
function mandatorySpec(resource: string, name: string): unknown {
  if (name !== 'exempt' && name !== 'catch-all') return undefined;
  return bootstrapTable()[`flowcontrol.apiserver.k8s.io/v1/${resource}`]?.find(({ metadata }) => metadata.name === name)?.['spec'];
}

export function validateFlowSchemaUpdate(schema: FlowSchema): FieldError[] {
  return withMeta(schema, validateFlowSchema(schema));
}

/** Validation of updates is that of new objects, whose metadata the generic registry does not check. */
function withMeta({ metadata }: KubeObject, ofSpec: readonly FieldError[]): FieldError[] {
  const errors: FieldError[] = [];
  validateMetaAgain(errors, metadata, nameIsDNSSubdomain, false);
  addErrors(errors, ofSpec);
  return errors;
}

export function validateFlowSchema(schema: FlowSchema): FieldError[] {
  const errors: FieldError[] = [];
  const name = schema.metadata.name ?? '';
  const { matchingPrecedence = 0, distinguisherMethod, priorityLevelConfiguration, rules = [] } = schema.spec ?? {};
  const precedence = spec.child('matchingPrecedence');
  if (matchingPrecedence <= 0) errors.push(invalid(precedence, matchingPrecedence, 'must be a positive value'));
  if (matchingPrecedence > maxPrecedence) errors.push(invalid(precedence, matchingPrecedence, `must not be greater than ${maxPrecedence}`));
  if (matchingPrecedence === 1 && name !== 'exempt')
    errors.push(invalid(precedence, matchingPrecedence, "only the schema named 'exempt' may have matchingPrecedence 1"));
  if (distinguisherMethod && distinguisherMethod.type !== 'ByUser' && distinguisherMethod.type !== 'ByNamespace') {
    const value = structValue({ Type: distinguisherMethod.type ?? '' });
    errors.push(notSupported(spec.child('distinguisherMethod', 'type'), value, ['ByNamespace', 'ByUser']));
  }
  const level = priorityLevelConfiguration?.name ?? '';
  const levelPath = spec.child('priorityLevelConfiguration', 'name');
  if (level === '') errors.push(required(levelPath, 'must reference a priority level'));
  else for (const message of nameIsDNSSubdomain(level, false)) errors.push(invalid(levelPath, level, message));
  for (const [i, rule] of rules.entries()) validateRule(errors, rule, spec.child('rules').index(i));
  const fixed = mandatorySpec('flowschemas', name);
  if (fixed !== undefined && !semanticDeepEqual(schema.spec, fixed))
    errors.push(invalid(spec, internalValue('FlowSchemaSpec', schema.spec), `spec of '${name}' must equal the fixed value`));
  return [...errors, ...validateConditions(schema)];
}

export function validateConditions({ status }: FlowSchema | PriorityLevelConfiguration): FieldError[] {
  const seen = new Set<string>();
  return (status?.conditions ?? []).flatMap(({ type = '' }, i) => {
    const path = fieldPath('status', 'conditions').index(i).child('type');
    const errors = seen.has(type) ? [duplicate(path, named(type))] : [];
    seen.add(type);
    return type === '' ? [...errors, required(path)] : errors;
  });
}

function validateRule(errors: FieldError[], { subjects = [], resourceRules = [], nonResourceRules = [] }: PolicyRule, path: Path): void {
  if (subjects.length === 0) errors.push(required(path.child('subjects'), 'subjects must contain at least one value'));
  for (const [i, subject] of subjects.entries()) validateSubject(errors, subject, path.child('subjects').index(i));
  if (resourceRules.length === 0 && nonResourceRules.length === 0)
    errors.push(required(path, 'at least one of resourceRules and nonResourceRules has to be non-empty'));
  for (const [i, rule] of resourceRules.entries()) validateResourceRule(errors, rule, path.child('resourceRules').index(i));
  for (const [i, rule] of nonResourceRules.entries()) {
    const at = path.child('nonResourceRules').index(i);
    validateVerbs(errors, rule.verbs ?? [], at.child('verbs'));
    validateUrls(errors, rule.nonResourceURLs ?? [], at.child('nonResourceURLs'));
  }
}

function validateSubject(errors: FieldError[], subject: Subject, path: Path): void {
  const { kind = '', user, group, serviceAccount } = subject;
  if (!kinds.includes(kind)) {
    errors.push(notSupported(path.child('kind'), kind, kinds));
    return;
  }
  const own = kind === 'ServiceAccount' ? 'serviceAccount' : kind.toLowerCase();
  if (kind === 'ServiceAccount') validateServiceAccount(errors, serviceAccount, path.child('serviceAccount'));
  else {
    const named = kind === 'User' ? user : group;
    if (!named) errors.push(required(path.child(own), `${own} is required when subject kind is '${kind}'`));
    else if (!named.name) errors.push(required(path.child(own, 'name')));
  }
  const others = { serviceAccount, user, group };
  for (const [field, value] of Object.entries(others)) {
    const title = `${field[0]?.toUpperCase()}${field.slice(1)}`;
    if (field !== own && value) errors.push(forbidden(path.child(field), `${field} is forbidden when subject kind is not '${title}'`));
  }
}

function validateServiceAccount(errors: FieldError[], account: Subject['serviceAccount'], path: Path): void {
  if (!account) {
    errors.push(required(path, "serviceAccount is required when subject kind is 'ServiceAccount'"));
    return;
  }
  const { name = '', namespace = '' } = account;
  if (name === '') errors.push(required(path.child('name')));
  else if (name !== '*')
    for (const message of validateServiceAccountName(name, false)) errors.push(invalid(path.child('name'), name, message));
  if (namespace === '') errors.push(required(path.child('namespace'), 'must specify namespace for service account'));
  else for (const message of validateNamespaceName(namespace, false)) errors.push(invalid(path.child('namespace'), namespace, message));
}

function validateResourceRule(errors: FieldError[], rule: ResourceRule, path: Path): void {
  const { apiGroups = [], resources = [], namespaces = [], clusterScope = false } = rule;
  validateVerbs(errors, rule.verbs ?? [], path.child('verbs'));
  if (apiGroups.length === 0) errors.push(required(path.child('apiGroups'), 'resource rules must supply at least one api group'));
  else validateLoneStar(errors, apiGroups, path.child('apiGroups'), 'api groups');
  if (resources.length === 0) errors.push(required(path.child('resources'), 'resource rules must supply at least one resource'));
  else validateLoneStar(errors, resources, path.child('resources'), 'resources');
  const at = path.child('namespaces');
  if (namespaces.length === 0 && !clusterScope)
    errors.push(required(at, 'resource rules that are not cluster scoped must supply at least one namespace'));
  else if (namespaces.includes('*')) validateLoneStar(errors, namespaces, at, 'namespaces');
  else
    for (const [i, namespace] of namespaces.entries())
      for (const message of validateNamespaceName(namespace, false)) errors.push(invalid(at.index(i), namespace, namespaceIntro + message));
}

function validateVerbs(errors: FieldError[], wanted: readonly string[], path: Path): void {
  if (wanted.length === 0) errors.push(required(path, 'verbs must contain at least one value'));
  else if (wanted.includes('*')) validateLoneStar(errors, wanted, path, 'verbs');
  else if (!wanted.every((verb) => verbs.includes(verb))) errors.push(notSupported(path, wanted, verbs));
}

function validateUrls(errors: FieldError[], urls: readonly string[], path: Path): void {
  if (urls.length === 0) errors.push(required(path, 'nonResourceURLs must contain at least one value'));
  else if (urls.includes('*')) validateLoneStar(errors, urls, path, 'non-resource URLs');
  else
    for (const [i, url] of urls.entries()) {
      const problem = urlProblem(url);
      if (problem !== undefined) errors.push(invalid(path.index(i), url, problem));
    }
}

function urlProblem(url: string): string | undefined {
  if (url === '') return 'must not be empty';
  if (url === '/') return undefined;
  if (!url.startsWith('/')) return 'must start with slash';
  if (url.includes(' ')) return 'must not contain white-space';
  if (url.includes('//')) return 'must not contain double slash';
  const stars = url.split('*').length - 1;
  return stars > 1 || (stars === 1 && !url.endsWith('/*')) ? 'wildcard can only do suffix matching' : undefined;
}

function validateLoneStar(errors: FieldError[], list: readonly string[], path: Path, what: string): void {
  if (list.length > 1 && list.includes('*')) errors.push(invalid(path, list, `if '*' is present, must not specify other ${what}`));
}

export function validatePriorityLevelConfigurationUpdate(level: PriorityLevelConfiguration): FieldError[] {
  return withMeta(level, validatePriorityLevelConfiguration(level));
}

export function validatePriorityLevelConfiguration(level: PriorityLevelConfiguration): FieldError[] {
  const errors: FieldError[] = [];
  const name = level.metadata.name ?? '';
  const { type = '', limited, exempt } = level.spec ?? {};
  if ((name === 'exempt') !== (type === 'Exempt'))
    errors.push(invalid(spec.child('type'), named(type), "must be 'Exempt' if and only if `name` is 'exempt'"));
  switch (type) {
    case 'Exempt':
      if (limited) errors.push(forbidden(spec.child('limited'), 'must be nil if the type is not Limited'));
      if (exempt) validateShares(errors, exempt, spec.child('exempt'));
      break;
    case 'Limited':
      if (exempt) errors.push(forbidden(spec.child('exempt'), 'must be nil if the type is Limited'));
      if (limited) validateLimited(errors, limited, spec.child('limited'));
      else errors.push(required(spec.child('limited'), 'must not be empty when type is Limited'));
      break;
    case '':
      errors.push(required(spec.child('type')));
      break;
    default:
      errors.push(notSupported(spec.child('type'), type, ['Exempt', 'Limited']));
  }
  const fixed = mandatorySpec('prioritylevelconfigurations', name) as PriorityLevelConfiguration['spec'];
  if (fixed !== undefined) {
    // Administrators may set how much the exempt level lends.
    const isExempt = name === 'exempt';
    const have = isExempt ? { ...level.spec, exempt: fixed.exempt } : level.spec;
    if (!semanticDeepEqual(have, fixed))
      errors.push(
        invalid(
          spec,
          internalValue('PriorityLevelConfigurationSpec', level.spec),
          `spec of '${name}'${isExempt ? " except the 'spec.exempt' field" : ''} must equal the fixed value`,
        ),
      );
  }
  return [...errors, ...validateConditions(level)];
}

function validateShares(
  errors: FieldError[],
  { nominalConcurrencyShares = 0, lendablePercent = 0 }: { nominalConcurrencyShares?: number; lendablePercent?: number },
  path: Path,
): void {
  if (nominalConcurrencyShares < 0)
    errors.push(invalid(path.child('nominalConcurrencyShares'), nominalConcurrencyShares, 'must be a non-negative integer'));
  if (lendablePercent < 0 || lendablePercent > 100)
    errors.push(invalid(path.child('lendablePercent'), lendablePercent, 'must be between 0 and 100, inclusive'));
}

function validateLimited(errors: FieldError[], limited: LimitedPriorityLevelConfiguration, path: Path): void {
  const { nominalConcurrencyShares = 0, lendablePercent = 0, borrowingLimitPercent, limitResponse = {} } = limited;
  validateShares(errors, { nominalConcurrencyShares }, path);
  const { type = '', queuing } = limitResponse;
  const at = path.child('limitResponse');
  if (type === 'Reject') {
    if (queuing) errors.push(forbidden(at.child('queuing'), 'must be nil if limited.limitResponse.type is not Limited'));
  } else if (type === 'Queue') {
    if (queuing) validateQueuing(errors, queuing, at.child('queuing'));
    else errors.push(required(at.child('queuing'), 'must not be empty if limited.limitResponse.type is Limited'));
  } else if (type === '') errors.push(required(at.child('type')));
  else errors.push(notSupported(at.child('type'), type, ['Queue', 'Reject']));
  validateShares(errors, { lendablePercent }, path);
  if (borrowingLimitPercent !== undefined && borrowingLimitPercent < 0)
    errors.push(invalid(path.child('borrowingLimitPercent'), borrowingLimitPercent, 'if specified, must be a non-negative integer'));
}

function validateQueuing(errors: FieldError[], { queues = 0, handSize = 0, queueLengthLimit = 0 }: QueuingConfiguration, path: Path): void {
  if (queueLengthLimit <= 0) errors.push(invalid(path.child('queueLengthLimit'), queueLengthLimit, 'must be positive'));
  if (queues <= 0) errors.push(invalid(path.child('queues'), queues, 'must be positive'));
  else if (queues > maxQueues) errors.push(invalid(path.child('queues'), queues, `must not be greater than ${maxQueues}`));
  const hand = path.child('handSize');
  if (handSize <= 0) errors.push(invalid(hand, handSize, 'must be positive'));
  else if (handSize > queues) errors.push(invalid(hand, handSize, `should not be greater than queues (${queues})`));
  else if (entropyBits(queues, handSize) > maxHashBits) {
    const message = `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${maxHashBits}`;
    errors.push(invalid(hand, handSize, message));
  }
}

/** Returns the number of hash bits that dealing one hand uses. Upstream: apiserver/pkg/util/shufflesharding (RequiredEntropyBits). */
function entropyBits(queues: number, handSize: number): number {
  let bits = 0;
  for (let i = 0; i < handSize && bits <= maxHashBits; i += 1) bits += Math.log2(queues - i);
  return Math.ceil(bits);
}
