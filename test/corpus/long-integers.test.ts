/**
 * Tests integers beyond 2^53 and at the limits of int64 in each field of each built-in kind: validation accepts or rejects
 * them and never throws.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { decode } from '#apimachinery/runtime/decode';
import { encode } from '#apimachinery/runtime/encode';
import { DecodeError, parseJson } from '#apimachinery/runtime/json/json';
import type { KubeObject } from '#apimachinery/meta/types';
import type { ResourceDefinition } from '#apiserver/registry/resource-definition';
import { groups } from '#kubernetes/apis/groups';
import { schema } from '#kubernetes/schema/schema';

interface Recorded {
  readonly name: string;
  readonly json: string;
}

const lines = brotliDecompressSync(readFileSync(join(import.meta.dirname, 'kinds.jsonl.br')))
  .toString()
  .trimEnd()
  .split('\n');
const recorded = lines.map((line) => JSON.parse(line) as Recorded);
const definitions = groups.flatMap(({ resources }) => resources);
const context = {
  namespace: 'default',
  user: { name: 'alice', uid: 'u', groups: [] },
  dryRun: false,
  now: '2026-01-01T00:00:00Z',
};

type Strategy = NonNullable<ResourceDefinition['strategy']>;

function strategiesOf({ strategy, subresources }: ResourceDefinition): Strategy[] {
  const others = Object.values(subresources).flatMap((one) => ('strategy' in one && one.strategy ? [one.strategy as Strategy] : []));
  return strategy ? [strategy, ...others] : others;
}

/** Returns the object with the integer in each number field. */
function withIntegers(definition: ResourceDefinition, json: string, integer: string): KubeObject {
  const type = schema.struct(definition.schema);
  let text = json;
  for (const { index, 0: number } of [...json.matchAll(/(?<=[:[,])-?\d+(?=[,\]}])/g)].reverse()) {
    const next = text.slice(0, index) + integer + text.slice(index + number.length);
    try {
      decode(type, parseJson(Buffer.from(next)).value);
      text = next;
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
    }
  }
  return decode(type, parseJson(Buffer.from(text)).value).object as KubeObject;
}

function runRules(strategy: Strategy, make: () => KubeObject, makeOld: () => KubeObject): unknown[] {
  const [object, old, created] = [make(), makeOld(), make()];
  const rules: (() => unknown)[] = [
    () => strategy.prepareForCreate?.(created, context as never),
    () => strategy.validate?.(created, context as never),
    () => strategy.warningsOnCreate?.(created, context as never),
    () => strategy.canonicalize?.(created as never, context as never),
    () => strategy.prepareForUpdate?.(object, old, context as never),
    () => strategy.validateUpdate?.(object, old, context as never),
    () => [...(strategy.validateSteps?.(object, old, context as never) ?? [])],
    () => strategy.warningsOnUpdate?.(object, old, context as never),
  ];
  return rules.flatMap((rule) => {
    try {
      const errors = rule();
      // Formatting an error includes its value.
      if (Array.isArray(errors)) errors.map(String);
      return [];
    } catch (error) {
      return [error];
    }
  });
}

it.each(['9007199254740993', '9223372036854775807', '-9223372036854775808'])(
  'validation handles %s in any field',
  { timeout: 120_000 },
  (integer) => {
    const failed: string[] = [];
    let replaced = 0;
    for (const { name, json } of recorded) {
      const { apiVersion, kind } = JSON.parse(json) as KubeObject;
      const definition = definitions.find((one) => one.kind === kind && [one.group, one.version].filter(Boolean).join('/') === apiVersion);
      if (!definition) continue;
      const type = schema.struct(definition.schema);
      const make = (text: string) => (): KubeObject => {
        const { object } = decode(type, parseJson(Buffer.from(text)).value);
        definition.defaults?.(object as never);
        return object as KubeObject;
      };
      const long = encode(type, withIntegers(definition, json, integer)).toString();
      if (long.includes(integer)) replaced += 1;
      for (const strategy of strategiesOf(definition)) {
        for (const [object, old] of [
          [long, json],
          [json, long],
          [long, long],
        ] as const) {
          for (const error of runRules(strategy, make(object), make(old))) {
            const text = `${name}: ${(error as Error).stack?.split('\n').slice(0, 3).join(' ')}`;
            if (!failed.includes(text)) failed.push(text);
          }
        }
      }
    }
    expect(replaced).toBeGreaterThan(20);
    expect(failed).toEqual([]);
  },
);
