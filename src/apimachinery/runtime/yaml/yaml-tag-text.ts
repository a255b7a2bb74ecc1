/** Directives, anchors and tags of YAML 1.1. Upstream: go.yaml.in/yaml/v2 scannerc.go (yaml_parser_scan_directive, …_anchor, …_tag). */
import { Buffer } from 'node:buffer';
import { behindAnchor, isAlphanumeric, isBlank, isBlankOrEnd, isBreakOrEnd, isDigit, isEnd, uriCharacters } from './yaml-characters.ts';
import type { YamlText } from './yaml-text.ts';

/** A directive: the version of YAML, or the prefix of a tag's handle. */
export type YamlDirective =
  | { readonly name: 'YAML'; readonly version: string }
  | { readonly name: 'TAG'; readonly handle: string; readonly prefix: string };

/** Reads a directive from its `%` to the end of the line. */
export function readDirective(text: YamlText): YamlDirective {
  text.at += 1;
  const name = readDirectiveName(text);
  let directive: YamlDirective;
  if (name === 'YAML') directive = { name, version: readVersion(text) };
  else if (name === 'TAG') directive = { name, ...readTagDirective(text) };
  else throw text.error('found unknown directive name');
  text.skipBlanks();
  text.skipComment();
  if (!isBreakOrEnd(text.code())) throw text.error('did not find expected comment or line break');
  if (!isEnd(text.code())) text.readLine();
  return directive;
}

function readDirectiveName(text: YamlText): string {
  const name = text.word();
  if (name === '') throw text.error('could not find expected directive name');
  if (!isBlankOrEnd(text.code())) throw text.error('found unexpected non-alphabetical character');
  return name;
}

function readVersion(text: YamlText): string {
  text.skipBlanks();
  const major = readVersionNumber(text);
  if (text.code() !== 0x2e) throw text.error("did not find expected digit or '.' character");
  text.at += 1;
  return `${major}.${readVersionNumber(text)}`;
}

function readVersionNumber(text: YamlText): number {
  const from = text.at;
  for (; isDigit(text.code()); text.at += 1) if (text.at - from >= 2) throw text.error('found extremely long version number');
  if (text.at === from) throw text.error('did not find expected version number');
  return Number(text.slice(from));
}

function readTagDirective(text: YamlText): { readonly handle: string; readonly prefix: string } {
  text.skipBlanks();
  const handle = readTagHandle(text, true);
  if (!isBlank(text.code())) throw text.error('did not find expected whitespace');
  text.skipBlanks();
  const prefix = readTagUri(text, '');
  if (!isBlankOrEnd(text.code())) throw text.error('did not find expected whitespace or line break');
  return { handle, prefix };
}

/** Reads the name of an anchor or an alias from its `&` or `*`. */
export function readAnchor(text: YamlText): string {
  text.at += 1;
  const name = text.word();
  if (name === '' || !(isBlankOrEnd(text.code()) || behindAnchor.has(text.code())))
    throw text.error('did not find expected alphabetic or numeric character');
  return name;
}

/** Reads a tag from its `!`. */
export function readTag(text: YamlText): { readonly handle: string; readonly suffix: string } {
  let handle = '';
  let suffix: string;
  if (text.code(1) === 0x3c) {
    text.at += 2;
    suffix = readTagUri(text, '');
    if (text.code() !== 0x3e) throw text.error("did not find the expected '>'");
    text.at += 1;
  } else {
    handle = readTagHandle(text, false);
    if (handle.length > 1 && handle.endsWith('!')) suffix = readTagUri(text, '');
    else {
      const rest = readTagUri(text, handle);
      suffix = rest || '!';
      handle = rest && '!';
    }
  }
  if (!isBlankOrEnd(text.code())) throw text.error('did not find expected whitespace or line break');
  return { handle, suffix };
}

function readTagHandle(text: YamlText, isDirective: boolean): string {
  if (text.code() !== 0x21) throw text.error("did not find expected '!'");
  const from = text.at;
  text.at += 1;
  text.word();
  if (text.code() === 0x21) text.at += 1;
  else if (isDirective && text.at - from > 1) throw text.error("did not find expected '!'");
  return text.slice(from);
}

/** Reads the rest of a tag; `head` is the part read as its handle. */
function readTagUri(text: YamlText, head: string): string {
  const parts = [head.slice(1)];
  const from = text.at;
  for (;;) {
    const plain = text.at;
    while (isAlphanumeric(text.code()) || (uriCharacters.has(text.code()) && text.code() !== 0x25)) text.at += 1;
    parts.push(text.slice(plain));
    if (text.code() !== 0x25) break;
    parts.push(readUriEscape(text));
  }
  if (text.at === from && head === '') throw text.error('did not find expected tag URI');
  return parts.join('');
}

/** Reads one character in escaped UTF-8 octets. */
function readUriEscape(text: YamlText): string {
  const octets: number[] = [];
  let width = 1;
  while (octets.length < width) {
    const digits = text.slice(text.at + 1, text.at + 3);
    if (text.code() !== 0x25 || !/^[0-9a-fA-F]{2}$/.test(digits)) throw text.error('did not find URI escaped octet');
    const octet = Number.parseInt(digits, 16);
    if (octets.length === 0) {
      width = utf8Width(octet);
      if (width === 0) throw text.error('found an incorrect leading UTF-8 octet');
    } else if ((octet & 0xc0) !== 0x80) throw text.error('found an incorrect trailing UTF-8 octet');
    octets.push(octet);
    text.at += 3;
  }
  return Buffer.from(octets).toString('utf8');
}

/** Returns the number of octets of a character by its first octet; 0 if that is invalid. */
function utf8Width(octet: number): number {
  if ((octet & 0x80) === 0) return 1;
  if ((octet & 0xe0) === 0xc0) return 2;
  if ((octet & 0xf0) === 0xe0) return 3;
  return (octet & 0xf8) === 0xf0 ? 4 : 0;
}
