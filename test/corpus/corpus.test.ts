import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decodeCbor, encodeCbor } from '#apimachinery/runtime/cbor/cbor';
import type { KubeObject } from '#apimachinery/meta/types';
import { decode } from '#apimachinery/runtime/decode';
import { encode } from '#apimachinery/runtime/encode';
import { parseJson } from '#apimachinery/runtime/json/json';
import { atOnce } from '#apimachinery/runtime/steps';
import { decodeProtobuf, decodeProtobufSteps, encodeProtobuf, protobufLengthSteps } from '#apimachinery/runtime/protobuf/protobuf';
import { builtInKinds } from './built-in-kinds.ts';

interface Recorded {
  /** For example `apps/v1 Deployment full`. */
  readonly name: string;
  readonly json: string;
  readonly protobuf: string;
}

const recorded = brotliDecompressSync(readFileSync(new URL('./kinds.jsonl.br', import.meta.url)))
  .toString()
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded);

const typeOf = (name: string) => builtInKinds.find(({ apiVersion, kind }) => name.startsWith(`${apiVersion} ${kind} `))!.type;

describe("Kubernetes' encodings round-trip byte for byte", () => {
  it.each(recorded)('$name', ({ name, json, protobuf }) => {
    const type = typeOf(name);
    const bytes = Buffer.from(protobuf, 'base64');
    const { object } = decode(type, parseJson(Buffer.from(json)).value);
    expect(encode(type, object)).toBe(json);
    expect(encodeProtobuf(type, object).toString('hex')).toBe(bytes.toString('hex'));
    expect(atOnce(protobufLengthSteps(type, object as KubeObject))).toBe(bytes.length);
    const read = decodeProtobuf(type, bytes);
    expect(atOnce(decodeProtobufSteps(type, bytes))).toEqual(read);
    expect(encode(type, read)).toBe(json);
    expect(encodeProtobuf(type, read).equals(bytes)).toBe(true);
  });

  it.each(recorded)('$name in CBOR', ({ name, json }) => {
    const type = typeOf(name);
    const bytes = encodeCbor(type, parseJson(Buffer.from(json)).value);
    const { object, strictError } = atOnce(decodeCbor<object>(type, bytes));
    expect(strictError).toBeUndefined();
    expect(encode(type, object)).toBe(json);
    expect(encodeCbor(type, parseJson(Buffer.from(encode(type, object))).value).equals(bytes)).toBe(true);
  });

  it('covers every built-in kind', () => {
    const names = new Set(recorded.map(({ name }) => name));
    const missing = builtInKinds.filter(
      ({ apiVersion, kind }) => !names.has(`${apiVersion} ${kind} ${kind.endsWith('List') ? 'items' : 'full'}`),
    );
    expect(missing.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`).sort()).toEqual([
      // Its module lacks a populated object but has the other two forms.
      'apiregistration.k8s.io/v1 APIService',
      // Kubernetes has removed these.
      'policy/v1beta1 PodSecurityPolicy',
      'policy/v1beta1 PodSecurityPolicyList',
      'settings.k8s.io/v1alpha1 PodPreset',
      'settings.k8s.io/v1alpha1 PodPresetList',
    ]);
  });
});
