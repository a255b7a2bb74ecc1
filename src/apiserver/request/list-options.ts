import { newBadRequest } from '#apimachinery/api/errors';
import { type FieldSelector, FieldSelectorError, parseFieldSelectorSteps } from '#apimachinery/fields/selector';
import { type LabelSelector, LabelSelectorError, parseSelectorSteps } from '#apimachinery/labels/selector';
import { quote } from '#apimachinery/runtime/quote';
import type { Steps } from '#apimachinery/runtime/steps';

/** Decoded metav1.ListOptions of a query. Upstream: apimachinery/pkg/apis/meta/internalversion. */
export interface ListQuery {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly watch: boolean;
  readonly allowWatchBookmarks: boolean;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  /** Timeout in seconds; undefined: the server chooses one. */
  readonly timeoutSeconds: number | undefined;
  readonly limit: number;
  readonly continue: string;
  readonly sendInitialEvents: boolean | undefined;
  readonly shardSelector: string;
}

export const emptyListQuery: ListQuery = {
  labelSelector: '',
  fieldSelector: '',
  watch: false,
  allowWatchBookmarks: false,
  resourceVersion: '',
  resourceVersionMatch: '',
  timeoutSeconds: undefined,
  limit: 0,
  continue: '',
  sendInitialEvents: undefined,
  shardSelector: '',
};

/** Decodes list options without validating their combinations. Throws BadRequest for malformed values. */
export function decodeListOptions(parameters: URLSearchParams): ListQuery {
  const text = (name: string): string => parameters.get(name) ?? '';
  return {
    labelSelector: text('labelSelector'),
    fieldSelector: text('fieldSelector'),
    watch: parseBoolean(parameters.get('watch')) ?? false,
    allowWatchBookmarks: parseBoolean(parameters.get('allowWatchBookmarks')) ?? false,
    resourceVersion: text('resourceVersion'),
    resourceVersionMatch: text('resourceVersionMatch'),
    timeoutSeconds: parseInt64(parameters.get('timeoutSeconds')),
    limit: parseInt64(parameters.get('limit')) ?? 0,
    continue: text('continue'),
    sendInitialEvents: parseBoolean(parameters.get('sendInitialEvents')),
    shardSelector: text('shardSelector'),
  };
}

/** Parses selectors. Throws BadRequest if they are invalid. */
export function* readSelectors({ labelSelector, fieldSelector }: Pick<ListQuery, 'labelSelector' | 'fieldSelector'>): Steps<{
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
}> {
  return {
    labels: yield* parse(parseSelectorSteps(labelSelector), LabelSelectorError),
    fields: yield* parse(parseFieldSelectorSteps(fieldSelector), FieldSelectorError),
  };
}

function* parse<T>(steps: Steps<T>, error: new (...args: never[]) => Error): Steps<T> {
  try {
    return yield* steps;
  } catch (cause) {
    if (cause instanceof error) throw newBadRequest(cause.message);
    throw cause;
  }
}

/** Converts a query value as Go does: every value but `false` and `0` is true, also the empty one. */
export function parseBoolean(value: string | null): boolean | undefined {
  if (value === null) return undefined;
  const lower = value.toLowerCase();
  return lower !== 'false' && lower !== '0';
}

export function parseInt64(value: string | null): number | undefined {
  if (value === null) return undefined;
  if (!/^[+-]?\d+$/.test(value)) throw newBadRequest(`strconv.ParseInt: parsing ${quote(value)}: invalid syntax`);
  const number = BigInt(value);
  if (number > 0x7fff_ffff_ffff_ffffn || number < -0x8000_0000_0000_0000n)
    throw newBadRequest(`strconv.ParseInt: parsing ${quote(value)}: value out of range`);
  return Number(number);
}
