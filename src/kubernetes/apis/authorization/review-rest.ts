import { Inject, Injectable, UseInterceptors } from '@nestjs/common';
import { newBadRequest, newInvalid } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import { startSteps, type Steps } from '#apimachinery/runtime/steps';
import { aggregateMessages, type FieldError } from '#apimachinery/validation/field';
import { AdmissionInterceptor } from '#apiserver/admission/admission.interceptor';
import type { UserInfo } from '#apiserver/request/user-info';
import type { AuthorizationAttributes, SelectorRequirement } from '#apiserver/authorization/authorizer';
import { selectorsSteps } from '#apiserver/authorization/request-selectors';
import { UnionAuthorizer } from '#apiserver/authorization/union';
import { readCreate, respondValue } from '#apiserver/endpoints/handlers/create-request';
import type { ResourceEndpoint } from '#apiserver/endpoints/handlers/resource-endpoint';
import type { RequestContext } from '#apiserver/request/request-context';
import type {
  LocalSubjectAccessReview,
  NonResourceAttributes,
  ResourceAttributes,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  SubjectAccessReviewSpec,
  SubjectAccessReviewStatus,
} from '#kubernetes/schema/authorization_v1.gen';
import { validateLocalSubjectAccessReview, validateSelfSubjectAccessReview, validateSubjectAccessReview } from './review-validation.ts';

const group = 'authorization.k8s.io';

interface Asked {
  readonly resourceAttributes?: ResourceAttributes;
  readonly nonResourceAttributes?: NonResourceAttributes;
}
type AccessReview = KubeObject & { spec?: Asked; status?: SubjectAccessReviewStatus };

/** Fills a review with the decision of the authorizer. */
async function review<T extends AccessReview>(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  authorizer: UnionAuthorizer,
  validate: (review: T) => FieldError[],
  userOf: (review: T) => UserInfo,
): Promise<void> {
  const { object, request, negotiated } = await readCreate<T>(context, endpoint);
  const errors = validate(object);
  // As upstream: the kind of a decoded internal object is empty.
  if (errors.length > 0) throw newInvalid({ group, kind: '' }, '', errors);
  await request.validate('CREATE', object, undefined);
  const { resourceAttributes } = object.spec ?? {};
  const selectors = [
    await startSteps(selectorOfReview('field', resourceAttributes?.fieldSelector)),
    await startSteps(selectorOfReview('label', resourceAttributes?.labelSelector)),
  ];
  const [fieldSelector, labelSelector] = selectors.map(({ requirements }) => requirements);
  const attributes = attributesOf(userOf(object), object.spec ?? {});
  const { decision, reason } = await authorizer.authorize({ ...attributes, fieldSelector, labelSelector });
  const evaluationError = selectors.flatMap(({ problem }) => problem ?? []).join('; ');
  object.status = {
    allowed: decision === 'Allow',
    ...(decision === 'Deny' && { denied: true }),
    ...(reason && { reason }),
    ...(evaluationError && { evaluationError }),
  };
  return respondValue(context, endpoint, 201, object, negotiated);
}

/** Returns the authorizer attributes of a review. Upstream: kubernetes/pkg/registry/authorization/util/helpers.go. */
function attributesOf(user: UserInfo, { resourceAttributes, nonResourceAttributes }: Asked): AuthorizationAttributes {
  const {
    verb = '',
    group: apiGroup = '',
    version = '',
    resource = '',
    subresource = '',
    namespace = '',
    name = '',
  } = resourceAttributes ?? {};
  if (resourceAttributes) {
    return {
      user,
      verb,
      isResourceRequest: true,
      apiGroup,
      apiVersion: version || '*',
      resource,
      subresource,
      namespace,
      name,
      path: '',
    };
  }
  const { path = '', verb: method = '' } = nonResourceAttributes ?? {};
  return {
    user,
    verb: method,
    isResourceRequest: false,
    apiGroup: '',
    apiVersion: '',
    resource: '',
    subresource: '',
    namespace: '',
    name: '',
    path,
  };
}

interface ReviewedSelector {
  readonly requirements: SelectorRequirement[] | undefined;
  /** Message for the status of the review, if a part of the selector is ignored. */
  readonly problem?: string;
}

/**
 * Parses a raw selector, or takes its requirements. Requirements with unknown operators are ignored, which widens the request. Upstream:
 * BuildEvaluationError in registry/authorization/util/helpers.go.
 */
function* selectorOfReview(
  kind: 'field' | 'label',
  selector: ResourceAttributes['fieldSelector'] | ResourceAttributes['labelSelector'],
): Steps<ReviewedSelector> {
  const { rawSelector = '', requirements = [] } = selector ?? {};
  const name = `${kind}Selector` as const;
  const ignored = (how: string): string => `spec.resourceAttributes.${name} ${how} due to parse error`;
  if (requirements.length === 0) {
    const parsed = (yield* selectorsSteps({ fieldSelector: '', labelSelector: '', [name]: rawSelector }))[name];
    return { requirements: parsed && [...parsed], ...(rawSelector !== '' && !parsed && { problem: ignored('ignored') }) };
  }
  const known = requirements.flatMap(({ key = '', operator = '', values = [] }) =>
    isOperator(operator) && (kind === 'label' || isOneValue(operator, values)) ? { key, operator, values } : [],
  );
  if (known.length === requirements.length) return { requirements: known };
  return known.length > 0
    ? { requirements: known, problem: ignored('partially ignored') }
    : { requirements: undefined, problem: ignored('ignored') };
}

function isOperator(text: string): text is SelectorRequirement['operator'] {
  return ['In', 'NotIn', 'Exists', 'DoesNotExist'].includes(text);
}

/** True if a field selector can express the requirement. */
function isOneValue(operator: SelectorRequirement['operator'], values: readonly string[]): boolean {
  return (operator === 'In' || operator === 'NotIn') && values.length === 1;
}

function userOfSpec({ spec = {} }: { spec?: SubjectAccessReviewSpec }): UserInfo {
  return { name: spec.user ?? '', uid: spec.uid, groups: spec.groups ?? [], extra: spec.extra };
}

/** Reviews whether any user may make a request. Upstream: kubernetes/pkg/registry/authorization/subjectaccessreview. */
@Injectable()
@UseInterceptors(AdmissionInterceptor)
export class SubjectAccessReviewHandler {
  constructor(@Inject(UnionAuthorizer) private readonly authorizer: UnionAuthorizer) {}

  handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    return review<SubjectAccessReview>(context, endpoint, this.authorizer, validateSubjectAccessReview, userOfSpec);
  }
}

/**
 * Reviews whether a user may make a request in the namespace of the review. Upstream:
 * kubernetes/pkg/registry/authorization/localsubjectaccessreview.
 */
@Injectable()
@UseInterceptors(AdmissionInterceptor)
export class LocalSubjectAccessReviewHandler {
  constructor(@Inject(UnionAuthorizer) private readonly authorizer: UnionAuthorizer) {}

  handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    return review<LocalSubjectAccessReview>(context, endpoint, this.authorizer, validateLocalSubjectAccessReview, userOfSpec);
  }
}

/**
 * Reviews whether the user of the request may make another request. Upstream:
 * kubernetes/pkg/registry/authorization/selfsubjectaccessreview.
 */
@Injectable()
@UseInterceptors(AdmissionInterceptor)
export class SelfSubjectAccessReviewHandler {
  constructor(@Inject(UnionAuthorizer) private readonly authorizer: UnionAuthorizer) {}

  handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    return review<SelfSubjectAccessReview>(
      context,
      endpoint,
      this.authorizer,
      validateSelfSubjectAccessReview,
      () => context.authenticatedUser,
    );
  }
}

/** Returns the rules of the user in a namespace. Upstream: kubernetes/pkg/registry/authorization/selfsubjectrulesreview. */
@Injectable()
@UseInterceptors(AdmissionInterceptor)
export class SelfSubjectRulesReviewHandler {
  constructor(@Inject(UnionAuthorizer) private readonly authorizer: UnionAuthorizer) {}

  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const { object, request, negotiated } = await readCreate<SelfSubjectRulesReview>(context, endpoint);
    const namespace = object.spec?.namespace ?? '';
    if (!namespace) throw newBadRequest('no namespace on request');
    await request.validate('CREATE', object, undefined);
    const { resourceRules, nonResourceRules, incomplete, errors } = await this.authorizer.rulesFor(context.authenticatedUser, namespace);
    const answer: KubeObject = {
      kind: object.kind,
      apiVersion: object.apiVersion,
      metadata: {},
      status: { resourceRules, nonResourceRules, incomplete, ...(errors.length > 0 && { evaluationError: aggregateMessages(errors) }) },
    };
    return respondValue(context, endpoint, 201, answer, negotiated);
  }
}
