import type { FieldsV1 } from '#apimachinery/meta/types';
import { encodeRawJson, parseEncodedText, rememberRawJson } from '#apimachinery/runtime/json/json';
import { memos } from '#apimachinery/runtime/memos';
import type { Steps } from '#apimachinery/runtime/steps';
import { notedKeys } from '#apimachinery/runtime/wide-objects';
import { FieldSet } from './field-set.ts';

/**
 * Fields that many objects have. The objects of a controller say the same in managedFields, a third of the text of a Pod, and what happens to
 * them is the same: a status, an annotation. What was seen twice is known: one frozen tree stands for its text wherever that is read, is
 * written by a look, and remembers what came out of it, less or more some other fields.
 */
interface Known {
  readonly fields: FieldsV1;
  readonly text: string;
  /** By an operation and the other set, the text of what came out: a set that nobody needs any more is not held by where it came from. */
  readonly results: Map<string, string>;
}

/** Longer texts are not kept: few objects share them. */
const maxText = 4_096;
/** So many characters are kept at least, and twice as many at most. */
const maxTexts = 256 * 1_024;
const maxResults = 8;
/** Changes that take a longer text are seldom the same. */
const maxChange = 256;

/** By their text; undefined for one that has come once. */
let recent = new Map<string, Known | undefined>();
let older = new Map<string, Known | undefined>();
let recentLength = 0;

const knownTrees = new WeakMap<FieldsV1, Known>();

/** Whether a tree, which is frozen then, stands for all that reads as it does. */
export const isKnown = (fields: FieldsV1): boolean => knownTrees.has(fields);

/**
 * The tree of a text as `encodeRawJson` writes it. undefined: it has not come before, and is known when it comes again, or it is the text of no
 * object.
 */
export function fieldsOfText(text: string): FieldsV1 | undefined {
  if (text.length > maxText || !text.startsWith('{')) return undefined;
  const known = lookUp(text);
  if (known) return known.fields;
  // As a part of a longer text it would keep that.
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

/** The tree that stands for these fields; frozen, even where it is too large to be known. */
export function knownFields(fields: FieldsV1): FieldsV1 {
  if (isKnown(fields)) return fields;
  const text = encodeRawJson(fields);
  return (lookUp(text) ?? know(fields, text)).fields;
}

function know(fields: FieldsV1, text: string): Known {
  const known = { fields, text, results: new Map<string, string>() };
  freeze(fields);
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

/** `a.union(b)`. */
export function unionSteps(a: FieldSet, b: FieldSet): Steps<FieldSet> {
  return remembered('+', a, b, () => a.unionSteps(b));
}

/** `a.difference(b)`. */
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

/** A text that tells small trees apart; undefined of a larger one. */
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
