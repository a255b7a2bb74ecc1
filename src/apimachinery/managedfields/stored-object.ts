import type { FieldsV1, KubeObject } from '#apimachinery/meta/types';
import { parseEncodedText } from '#apimachinery/runtime/json/json';
import { fieldsOfText } from './known-fields.ts';

const managedFields = '"managedFields":[{';
const fieldsV1 = '"fieldsV1":';
const subresource = ',"subresource":"';

/** Parses an object like `parseEncoded`, with interned trees for known fieldsV1. */
export function parseStored(bytes: Buffer, hasRaw = false): KubeObject {
  const text = bytes.toString('utf8');
  const known: FieldsV1[] = [];
  const object = parseEncodedText(withoutKnown(text, known), hasRaw) as KubeObject;
  // A field of the custom resource looks like managedFields.
  if (!putBack(object, known)) return parseEncodedText(text, hasRaw) as KubeObject;
  return object;
}

/**
 * Replaces each known fieldsV1 value in the text by a number, counted from 0. The boundaries are guessed. Quotes within strings are
 * escaped, so only keys like those of metadata can mislead, which `putBack` detects; and a wrongly cut text is unknown, since no object's
 * text is a prefix of another's.
 */
function withoutKnown(text: string, known: FieldsV1[]): string {
  const start = text.indexOf(managedFields);
  if (start < 0) return text;
  const end = text.indexOf('}]', start);
  let rest = '';
  let done = 0;
  for (let at = text.indexOf(fieldsV1, start); at >= 0 && at < end; at = text.indexOf(fieldsV1, at)) {
    at += fieldsV1.length;
    const next = text.indexOf('},{"', at);
    let close = next < 0 || next > end ? end : next;
    if (text[close - 1] === '"') close = text.lastIndexOf(subresource, close);
    const fields = close > at ? fieldsOfText(text.slice(at, close)) : undefined;
    if (!fields) continue;
    rest += text.slice(done, at) + String(known.length);
    known.push(fields);
    done = close;
  }
  return done === 0 ? text : rest + text.slice(done);
}

/** Puts the fields back; returns true if each number was in an object's managedFields. */
function putBack({ metadata }: KubeObject, known: readonly FieldsV1[]): boolean {
  if (known.length === 0) return true;
  let next = 0;
  for (const entry of metadata.managedFields ?? []) {
    if ((entry.fieldsV1 as unknown) === next) entry.fieldsV1 = known[next++]!;
  }
  return next === known.length;
}
