import { newInvalid } from '#apimachinery/api/errors';
import { type FieldError, fieldPath, forbidden, notSupported, required } from '#apimachinery/validation/field';
import { validateDryRun, validateFieldManager, validateFieldValidation } from '#apimachinery/validation/object-meta';
import { atOnce } from '#apimachinery/runtime/steps';
import { decodeListOptions, emptyListQuery, type ListQuery, parseBoolean, readSelectors } from '#apiserver/request/list-options';

/** Parses list options. Throws BadRequest for malformed values and Invalid for invalid combinations. */
export function parseListOptions(parameters: URLSearchParams): ListQuery {
  if (parameters.size === 0) return emptyListQuery;
  const options = decodeListOptions(parameters);
  const errors = validateListOptions(options);
  // Upstream parses the selectors before it validates the options.
  if (errors.length > 0) atOnce(readSelectors(options));
  if (errors.length > 0) throw newInvalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors);
  return options;
}

/** Validates combinations of list options. Upstream: apimachinery/pkg/apis/meta/internalversion/validation/validation.go. */
function validateListOptions(options: ListQuery): FieldError[] {
  return options.watch ? validateWatchOptions(options) : validateMatch(options);
}

const matches = ['Exact', 'NotOlderThan', ''];

function validateMatch(options: ListQuery): FieldError[] {
  const errors: FieldError[] = [];
  const matchPath = fieldPath('resourceVersionMatch');
  if (options.resourceVersionMatch) {
    if (!options.resourceVersion) errors.push(forbidden(matchPath, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
    if (options.continue) errors.push(forbidden(matchPath, 'resourceVersionMatch is forbidden when continue is provided'));
    if (!matches.includes(options.resourceVersionMatch)) errors.push(notSupported(matchPath, options.resourceVersionMatch, matches));
    if (options.resourceVersionMatch === 'Exact' && options.resourceVersion === '0') {
      errors.push(forbidden(matchPath, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (options.sendInitialEvents !== undefined)
    errors.push(forbidden(fieldPath('sendInitialEvents'), 'sendInitialEvents is forbidden for list'));
  return errors;
}

function validateWatchOptions(options: ListQuery): FieldError[] {
  const errors: FieldError[] = [];
  const matchPath = fieldPath('resourceVersionMatch');
  if (options.sendInitialEvents !== undefined) {
    if (options.resourceVersionMatch !== 'NotOlderThan') {
      errors.push(forbidden(matchPath, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
    }
  }
  if (options.resourceVersionMatch) {
    if (options.sendInitialEvents === undefined)
      errors.push(forbidden(matchPath, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'));
    if (options.resourceVersionMatch !== 'NotOlderThan')
      errors.push(notSupported(matchPath, options.resourceVersionMatch, ['NotOlderThan']));
    if (options.continue) errors.push(forbidden(matchPath, 'resourceVersionMatch is forbidden when continue is provided'));
  } else if (options.continue && options.sendInitialEvents === undefined && (!options.resourceVersion || options.resourceVersion === '0')) {
    // For such watches upstream sets the match itself: SetListOptionsDefaults in
    // apimachinery/pkg/apis/meta/internalversion/defaults.go.
    errors.push(forbidden(matchPath, 'resourceVersionMatch is forbidden when continue is provided'));
  }
  return errors;
}

/** Query parameters of CreateOptions, UpdateOptions and PatchOptions. */
export interface WriteQuery {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  readonly force: boolean | undefined;
  readonly isApply: boolean;
  /** Options object for admission: its kind and the parameters of the query. */
  readonly given: Readonly<Record<string, unknown>>;
}

type WriteOptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions';

const apiVersion = 'meta.k8s.io/v1';
const plainWrite = (kind: WriteOptionsKind): WriteQuery => ({
  dryRun: false,
  fieldManager: '',
  fieldValidation: 'Warn',
  force: undefined,
  isApply: false,
  given: { kind, apiVersion },
});
/** Options of requests without a query, which are the most frequent. */
const plainWrites: Readonly<Record<WriteOptionsKind, WriteQuery>> = {
  CreateOptions: plainWrite('CreateOptions'),
  UpdateOptions: plainWrite('UpdateOptions'),
  PatchOptions: plainWrite('PatchOptions'),
};

/** Parses write options. `isApply` is true for an apply patch, which has other rules. Throws Invalid or BadRequest. */
export function parseWriteOptions(parameters: URLSearchParams, kind: WriteOptionsKind, isApply = false): WriteQuery {
  if (parameters.size === 0 && !isApply) return plainWrites[kind];
  const dryRun = parameters.getAll('dryRun');
  const fieldManager = parameters.get('fieldManager') ?? '';
  const fieldValidation = parameters.get('fieldValidation') ?? '';
  const force = parseBoolean(parameters.get('force'));
  const errors: FieldError[] = [];
  if (kind === 'PatchOptions') {
    if (isApply) {
      if (!fieldManager) errors.push(required(fieldPath('fieldManager'), 'is required for apply patch'));
    } else if (force !== undefined) {
      errors.push(forbidden(fieldPath('force'), 'may not be specified for non-apply patch'));
    }
  }
  errors.push(
    ...validateFieldManager(fieldManager, fieldPath('fieldManager')),
    ...validateDryRun(fieldPath('dryRun'), dryRun),
    ...validateFieldValidation(fieldPath('fieldValidation'), fieldValidation),
  );
  if (errors.length > 0) throw newInvalid({ group: 'meta.k8s.io', kind }, '', errors);
  return {
    dryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation: (fieldValidation || 'Warn') as WriteQuery['fieldValidation'],
    force,
    isApply,
    given: {
      kind,
      apiVersion,
      ...(dryRun.length > 0 && { dryRun }),
      ...(force !== undefined && { force }),
      ...(fieldManager && { fieldManager }),
      ...(fieldValidation && { fieldValidation }),
    },
  };
}
