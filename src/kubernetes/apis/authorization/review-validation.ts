import { metaSchema } from '#apimachinery/meta/schema/schema';
import { encode } from '#apimachinery/runtime/encode';
import { type FieldError, fieldPath, invalid, JsonText, type Path, required } from '#apimachinery/validation/field';
import { validateFieldSelectorRequirement, validateLabelSelectorRequirement } from '#apimachinery/validation/object-meta';
import type {
  LocalSubjectAccessReview,
  NonResourceAttributes,
  ResourceAttributes,
  SelfSubjectAccessReview,
  SubjectAccessReview,
  SubjectAccessReviewSpec,
} from '#kubernetes/schema/authorization_v1.gen';
import type { ObjectMeta } from '#apimachinery/meta/types';

const spec = fieldPath('spec');

/** Validates a review of a user's access. Upstream: kubernetes/pkg/apis/authorization/validation/validation.go. */
export function validateSubjectAccessReview(review: SubjectAccessReview): FieldError[] {
  return [...validateSubjectSpec(review.spec ?? {}), ...validateEmptyMeta(review.metadata, 'must be empty')];
}

export function validateSelfSubjectAccessReview(review: SelfSubjectAccessReview): FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = review.spec ?? {};
  return [
    ...validateAttributes(resourceAttributes, nonResourceAttributes),
    ...validateResourceAttributes(resourceAttributes),
    ...validateEmptyMeta(review.metadata, 'must be empty'),
  ];
}

export function validateLocalSubjectAccessReview(review: LocalSubjectAccessReview): FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = review.spec ?? {};
  const errors = [
    ...validateSubjectSpec(review.spec ?? {}),
    ...validateEmptyMeta(review.metadata, 'must be empty except for namespace', 'namespace'),
  ];
  if (resourceAttributes && (resourceAttributes.namespace ?? '') !== (review.metadata.namespace ?? '')) {
    errors.push(
      invalid(fieldPath('spec.resourceAttributes.namespace'), resourceAttributes.namespace ?? '', 'must match metadata.namespace'),
    );
  }
  if (nonResourceAttributes)
    errors.push(
      invalid(fieldPath('spec.nonResourceAttributes'), asGoPrintsIt(nonResourceAttributes), 'disallowed on this kind of request'),
    );
  return errors;
}

function validateSubjectSpec({ resourceAttributes, nonResourceAttributes, user, groups }: SubjectAccessReviewSpec): FieldError[] {
  const errors = validateAttributes(resourceAttributes, nonResourceAttributes);
  if (!user && !groups?.length) errors.push(invalid(spec.child('user'), user ?? '', 'at least one of user or group must be specified'));
  return [...errors, ...validateResourceAttributes(resourceAttributes)];
}

function validateAttributes(resource: ResourceAttributes | undefined, nonResource: NonResourceAttributes | undefined): FieldError[] {
  if (resource && nonResource)
    return [
      invalid(spec.child('nonResourceAttributes'), asGoPrintsIt(nonResource), 'cannot be specified in combination with resourceAttributes'),
    ];
  if (!resource && !nonResource)
    return [
      invalid(spec.child('resourceAttributes'), null, 'exactly one of nonResourceAttributes or resourceAttributes must be specified'),
    ];
  return [];
}

/** Formats the attributes with Go field names, since upstream's internal type has no JSON names. */
function asGoPrintsIt({ path = '', verb = '' }: NonResourceAttributes): JsonText {
  return new JsonText(JSON.stringify({ Path: path, Verb: verb }));
}

function validateResourceAttributes(attributes: ResourceAttributes | undefined): FieldError[] {
  if (!attributes) return [];
  const path = fieldPath('spec.resourceAttributes');
  return [
    ...validateSelector(attributes.fieldSelector, path.child('fieldSelector'), validateFieldSelectorRequirement),
    ...validateSelector(attributes.labelSelector, path.child('labelSelector'), validateLabelSelectorRequirement),
  ];
}

type ValidateRequirement = typeof validateLabelSelectorRequirement;

function validateSelector(
  selector: { readonly rawSelector?: string; readonly requirements?: readonly unknown[] } | undefined,
  path: Path,
  validateRequirement: ValidateRequirement,
): FieldError[] {
  if (!selector) return [];
  const { rawSelector = '', requirements = [] } = selector;
  const errors: FieldError[] = [];
  if (rawSelector && requirements.length > 0)
    errors.push(invalid(path.child('rawSelector'), rawSelector, 'may not specified at the same time as requirements'));
  if (!rawSelector && requirements.length === 0) {
    errors.push(required(path.child('requirements'), `when ${path.toString()} is specified, requirements or rawSelector is required`));
  }
  for (const [i, requirement] of requirements.entries()) {
    errors.push(
      ...validateRequirement(
        requirement as Parameters<ValidateRequirement>[0],
        { allowUnknownOperatorInRequirement: true },
        path.child('requirements').index(i),
      ),
    );
  }
  return errors;
}

function validateEmptyMeta(metadata: ObjectMeta, detail: string, ...allowed: (keyof ObjectMeta)[]): FieldError[] {
  const ignored: readonly string[] = ['managedFields', ...allowed];
  if (Object.keys(metadata).every((field) => ignored.includes(field))) return [];
  return [invalid(fieldPath('metadata'), new JsonText(encode(metaSchema.struct('meta_v1.ObjectMeta'), metadata)), detail)];
}
