import type { FieldsV1 } from '#apimachinery/meta/types';
import { noteFrozen } from '#apimachinery/runtime/deep-freeze';
import { encodeRawJson, parseEncodedText, rememberRawJson } from '#apimachinery/runtime/json/json';
import { memos } from '#apimachinery/runtime/memos';
import type { Steps } from '#apimachinery/runtime/steps';
import { notedKeys } from '#apimachinery/runtime/wide-objects';
import { FieldSet } from './field-set.ts';

/**
 * Interned field sets. Objects of one controller have equal managedFields, a third of the text of a Pod, and are changed in equal ways,
 * such as by a status or an annotation. A set that occurs twice is interned: one frozen tree is used for all occurrences of its text,
 * encodes by lookup, and caches the results of set operations.
 */
interface Known {
  readonly fields: FieldsV1;
  readonly text: string;
  /** Results by operation and the other set, as texts, so that the cache does not retain unused sets. */
  readonly results: Map<string, string>;
}

/** Maximum length of an interned text: few objects share longer ones. */
const maxText = 4_096;
/** Minimum number of interned characters; the maximum is twice as many. */
const maxTexts = 256 * 1_024;
const maxResults = 8;
/** Maximum length of a cached operand: larger changes seldom repeat. */
const maxChange = 256;

/** Sets by text; undefined for a text that occurred once. */
let recent = new Map<string, Known | undefined>();
let older = new Map<string, Known | undefined>();
let recentLength = 0;

const knownTrees = new WeakMap<FieldsV1, Known>();

/** True for an interned, frozen tree. */
export const isKnown = (fields: FieldsV1): boolean => knownTrees.has(fields);

/** Returns the tree for a text that `encodeRawJson` has written; undefined if it is not interned yet, or not an object. */
export function fieldsOfText(text: string): FieldsV1 | undefined {
  if (text.length > maxText || !text.startsWith('{')) return undefined;
  const known = lookUp(text);
  if (known) return known.fields;
  // A copy, since a substring would retain the whole text.
  const own = Buffer.from(text).toString();
  if (!recent.has(text) && !older.has(text)) {
    keep(own, undefined);
    return undefined;
  }
  const fields = parsed(own);
  return fields && know(fields, own).fields;
}

function parsed(text: string): FieldsV1 | undefined {
  try {
    return parseEncodedText(text) as FieldsV1;
  } catch {
    return undefined;
  }
}

/** Returns the interned tree for these fields; it is frozen even if it is too large to be interned. */
export function knownFields(fields: FieldsV1): FieldsV1 {
  if (isKnown(fields)) return fields;
  const text = encodeRawJson(fields);
  return (lookUp(text) ?? know(fields, text)).fields;
}

function know(fields: FieldsV1, text: string): Known {
  const known = { fields, text, results: new Map<string, string>() };
  freeze(fields);
  noteFrozen(fields);
  rememberRawJson(fields);
  if (text.length <= maxText) {
    knownTrees.set(fields, known);
    keep(text, known);
  }
  return known;
}

function lookUp(text: string): Known | undefined {
  if (!memos.knownFields) return undefined;
  const known = recent.get(text);
  if (known) return known;
  const before = older.get(text);
  if (before) keep(before.text, before);
  return before;
}

function keep(text: string, known: Known | undefined): void {
  if (recentLength + text.length > maxTexts) {
    older = recent;
    recent = new Map();
    recentLength = 0;
  }
  recent.set(text, known);
  recentLength += text.length;
}

function freeze(fields: FieldsV1): void {
  Object.freeze(fields);
  for (const element in fields) if (!Object.isFrozen(fields[element])) freeze(fields[element]!);
}

/** `a.union(b)`, cached for interned sets. */
export function unionSteps(a: FieldSet, b: FieldSet): Steps<FieldSet> {
  return remembered('+', a, b, () => a.unionSteps(b));
}

/** `a.difference(b)`, cached for interned sets. */
export function differenceSteps(a: FieldSet, b: FieldSet): Steps<FieldSet> {
  return remembered('-', a, b, () => a.differenceSteps(b));
}

function* remembered(operation: '+' | '-', a: FieldSet, b: FieldSet, make: () => Steps<FieldSet>): Steps<FieldSet> {
  const known = b.isEmpty ? undefined : knownTrees.get(a.toFieldsV1());
  if (!known) return yield* make();
  const change = shortTextOf(b.toFieldsV1());
  if (change === undefined) return yield* make();
  const { results } = known;
  const key = operation + change;
  const text = results.get(key);
  const before = text === undefined ? undefined : lookUp(text);
  if (before) return FieldSet.fromCanonical(before.fields);
  const fields = knownFields((yield* make()).toFieldsV1());
  const result = knownTrees.get(fields);
  if (result) {
    if (results.size >= maxResults) results.clear();
    results.set(key, result.text);
  }
  return FieldSet.fromCanonical(fields);
}

/** Returns a unique text for a small tree; undefined for a larger one. */
function shortTextOf(fields: FieldsV1): string | undefined {
  if (notedKeys(fields)) return undefined;
  let text = '{';
  for (const element in fields) {
    const child = shortTextOf(fields[element]!);
    if (child === undefined) return undefined;
    text += `${element.length}:${element}${child}`;
    if (text.length > maxChange) return undefined;
  }
  return `${text}}`;
}
