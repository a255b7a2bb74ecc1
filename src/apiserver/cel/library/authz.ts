/** Authorization checks. Upstream: apiserver/pkg/cel/library/authz.go. */
import { nameIsDNSLabel, nameIsDNSSubdomain } from '#apimachinery/validation/names';
import type { UserInfo } from '#apiserver/request/user-info';
import type { AuthorizationAttributes, AuthorizationResult, Authorizer } from '#apiserver/authorization/authorizer';
import { selectorsOf } from '#apiserver/authorization/request-selectors';
import { func, type FunctionDeclaration, member } from '../check/declarations.ts';
import { boolType, type CelType, stringType, structType } from '../check/types.ts';
import type { Library } from '../environment.ts';
import { Suspended } from '#apimachinery/runtime/suspended';
import { CelError, type CelObject, noSuchOverload, type Value } from '../runtime/values.ts';

/** The types of the variables `authorizer` and `authorizer.requestResource`. */
export const authorizerType = structType('kubernetes.authorization.Authorizer');
export const resourceCheckType = structType('kubernetes.authorization.ResourceCheck');
const pathCheckType = structType('kubernetes.authorization.PathCheck');
const groupCheckType = structType('kubernetes.authorization.GroupCheck');
const decisionType = structType('kubernetes.authorization.Decision');

/** Base class of objects that equal nothing, as in upstream. */
abstract class ReceiverOnly implements CelObject {
  abstract readonly celType: CelType;

  equals(): Value {
    return noSuchOverload();
  }
}

/** Decisions by request, reused when a suspended evaluation restarts. An Error is a decision, too. */
type Answers = Map<string, AuthorizationResult | Error>;

/** The variable `authorizer`, which checks access on behalf of a user. All expressions of a request share one value. */
export class AuthorizerValue extends ReceiverOnly {
  readonly celType = authorizerType;

  constructor(
    readonly user: UserInfo,
    readonly authorizer: Pick<Authorizer, 'authorize'>,
    readonly answers: Answers = new Map(),
  ) {
    super();
  }

  /** Returns the decision. Throws Suspended if the authorizer answers asynchronously. */
  ask(attributes: AuthorizationAttributes): Decision {
    const key = JSON.stringify(attributes);
    const known = this.answers.get(key);
    if (known) return new Decision(known);
    const answer = this.#attempt(attributes);
    if (!(answer instanceof Promise)) {
      this.answers.set(key, answer);
      return new Decision(answer);
    }
    throw new Suspended(
      answer.then(
        (result) => this.answers.set(key, result),
        (error: Error) => this.answers.set(key, error),
      ),
    );
  }

  /** Calls the authorizer; an exception counts as its answer. */
  #attempt(attributes: AuthorizationAttributes): AuthorizationResult | Error | Promise<AuthorizationResult> {
    try {
      return this.authorizer.authorize(attributes);
    } catch (error) {
      return error as Error;
    }
  }
}

class PathCheck extends ReceiverOnly {
  readonly celType = pathCheckType;

  constructor(
    readonly authorizer: AuthorizerValue,
    readonly path: string,
  ) {
    super();
  }

  check(verb: string): Decision {
    return this.authorizer.ask({
      user: this.authorizer.user,
      verb,
      isResourceRequest: false,
      path: this.path,
      apiGroup: '',
      apiVersion: '',
      resource: '',
      subresource: '',
      namespace: '',
      name: '',
    });
  }
}

class GroupCheck extends ReceiverOnly {
  readonly celType = groupCheckType;

  constructor(
    readonly authorizer: AuthorizerValue,
    readonly group: string,
  ) {
    super();
  }
}

interface CheckedResource {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

/** The variable `authorizer.requestResource`, and the result of `authorizer.group(…).resource(…)`. */
export class ResourceCheck extends ReceiverOnly {
  readonly celType = resourceCheckType;

  constructor(
    readonly authorizer: AuthorizerValue,
    readonly target: CheckedResource,
  ) {
    super();
  }

  with(change: Partial<CheckedResource>): ResourceCheck {
    return new ResourceCheck(this.authorizer, { ...this.target, ...change });
  }

  check(verb: string): Decision {
    const { group, resource, subresource, namespace, name, fieldSelector = '', labelSelector = '' } = this.target;
    const { user } = this.authorizer;
    const asked = {
      user,
      verb,
      isResourceRequest: true,
      apiGroup: group,
      apiVersion: '*',
      resource,
      subresource,
      namespace,
      name,
      path: '',
    };
    return this.authorizer.ask({ ...asked, ...selectorsOf({ fieldSelector, labelSelector }) });
  }
}

class Decision extends ReceiverOnly {
  readonly celType = decisionType;

  constructor(readonly answer: AuthorizationResult | Error) {
    super();
  }

  get allowed(): boolean {
    return !(this.answer instanceof Error) && this.answer.decision === 'Allow';
  }

  get reason(): string {
    return this.answer instanceof Error ? '' : this.answer.reason;
  }

  get error(): string {
    return this.answer instanceof Error ? this.answer.message : '';
  }
}

function serviceAccount(authorizer: AuthorizerValue, namespace: string, name: string): Value {
  if (nameIsDNSSubdomain(name, false).length > 0) return new CelError('Invalid service account name');
  if (nameIsDNSLabel(namespace, false).length > 0) return new CelError('Invalid service account namespace');
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
  return new AuthorizerValue(
    { name: `system:serviceaccount:${namespace}:${name}`, uid: '', groups },
    authorizer.authorizer,
    authorizer.answers,
  );
}

function refining(name: Exclude<keyof CheckedResource, 'group' | 'resource'>, id = name.toLowerCase()): FunctionDeclaration {
  const refine = (check: ResourceCheck, value: string): Value => check.with({ [name]: value });
  return func(
    name,
    member(
      `${name.endsWith('Selector') ? 'authorizer' : 'resourcecheck'}_${id}`,
      [resourceCheckType, stringType],
      resourceCheckType,
      refine,
    ),
  );
}

const functions: readonly FunctionDeclaration[] = [
  func(
    'path',
    member('authorizer_path', [authorizerType, stringType], pathCheckType, (authorizer: AuthorizerValue, path: string) =>
      path.trim() === '' ? new CelError('path must not be empty') : new PathCheck(authorizer, path),
    ),
  ),
  func(
    'group',
    member(
      'authorizer_group',
      [authorizerType, stringType],
      groupCheckType,
      (authorizer: AuthorizerValue, group: string) => new GroupCheck(authorizer, group),
    ),
  ),
  func('serviceAccount', member('authorizer_serviceaccount', [authorizerType, stringType, stringType], authorizerType, serviceAccount)),
  func(
    'resource',
    member('groupcheck_resource', [groupCheckType, stringType], resourceCheckType, ({ authorizer, group }: GroupCheck, resource: string) =>
      resource.trim() === ''
        ? new CelError('resource must not be empty')
        : new ResourceCheck(authorizer, { group, resource, subresource: '', namespace: '', name: '' }),
    ),
  ),
  refining('subresource'),
  refining('namespace'),
  refining('name'),
  func(
    'check',
    member('pathcheck_check', [pathCheckType, stringType], decisionType, (check: PathCheck, verb: string) => check.check(verb)),
    member('resourcecheck_check', [resourceCheckType, stringType], decisionType, (check: ResourceCheck, verb: string) => check.check(verb)),
  ),
  func(
    'errored',
    member('decision_errored', [decisionType], boolType, ({ answer }: Decision) => answer instanceof Error),
  ),
  func(
    'error',
    member('decision_error', [decisionType], stringType, ({ error }: Decision) => error),
  ),
  func(
    'allowed',
    member('decision_allowed', [decisionType], boolType, ({ allowed }: Decision) => allowed),
  ),
  func(
    'reason',
    member('decision_reason', [decisionType], stringType, ({ reason }: Decision) => reason),
  ),
];

/** Functions that add selectors to a resource check. Upstream: AuthzSelectors. */
export const authzSelectorsLibrary: Library = { functions: [refining('fieldSelector'), refining('labelSelector')] };

export const authzLibrary: Library = { functions, types: [authorizerType, pathCheckType, groupCheckType, resourceCheckType, decisionType] };
