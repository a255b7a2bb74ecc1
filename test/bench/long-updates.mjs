// Measures the strategies of each built-in kind for a create and an update of an object with one list or map of the maximum
// body size, whose stored items are in reverse order: each list and map, and each endpoint that writes the kind. Prints the
// rules above --over milliseconds (on a server, validation yields between items) and their number. Includes the warnings of
// invalid objects.
//   npm run build && node --conditions=kubenest-source --experimental-transform-types test/bench/long-updates.mjs [--over
//   500] [--only REGEX]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { decode } from '#apimachinery/runtime/decode';
import { groups } from '#kubernetes/apis/groups';
import { schema } from '#kubernetes/schema/schema';
import { Kubenest } from '../servers/kubenest.ts';
import { bodyOf, containersOf } from './long-containers.mjs';

const { values } = parseArgs({ options: { over: { type: 'string', default: '500' }, only: { type: 'string', default: '.' } } });
const context = {
  namespace: 'default',
  user: { name: 'alice', uid: 'u', groups: [] },
  dryRun: false,
  now: '2026-01-01T00:00:00Z',
};
const resources = groups.flatMap((group) => group.resources);

/** Returns the individual rules; each one sees the changes of the previous ones. */
function rulesOf(strategy, object, old) {
  const created = structuredClone(object);
  return {
    prepareForCreate: () => strategy.prepareForCreate?.(created, context),
    validate: () => strategy.validate?.(created, context),
    warningsOnCreate: () => strategy.warningsOnCreate?.(created, context),
    canonicalize: () => strategy.canonicalize?.(created),
    prepareForUpdate: () => strategy.prepareForUpdate?.(object, old, context),
    validateUpdate: () => strategy.validateUpdate?.(object, old, context),
    validateSteps: () => [...(strategy.validateSteps?.(object, old, context) ?? [])],
    warningsOnUpdate: () => strategy.warningsOnUpdate?.(object, old, context),
  };
}

function decoded(definition, value) {
  const { object } = decode(schema.struct(definition.schema), structuredClone(value));
  definition.defaults?.(object);
  return object;
}

async function openApi() {
  const folder = mkdtempSync(join(tmpdir(), 'long-updates-'));
  try {
    await using server = await Kubenest.start(folder);
    return (await server.fetch('/openapi/v2')).body;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const document = await openApi();
let all = 0;
let over = 0;
for (const container of containersOf(document)) {
  const { group, version, kind } = container.kind;
  if (!new RegExp(values.only).test(container.name)) continue;
  const definition = resources.find((one) => one.group === group && one.version === version && one.kind === kind);
  if (!definition) continue;
  const { body } = bodyOf(document.definitions, container);
  const given = JSON.parse(body);
  const reversed = JSON.parse(body, (_, value) => (Array.isArray(value) ? value.toReversed() : value));
  const strategies = { '': definition.strategy };
  for (const [name, subresource] of Object.entries(definition.subresources))
    if ('strategy' in subresource) strategies[`/${name}`] = subresource.strategy;
  for (const [name, strategy] of Object.entries(strategies)) {
    let rules;
    try {
      const [object, old] = [given, reversed].map((value) => decoded(definition, value));
      rules = rulesOf(strategy, object, old);
    } catch (error) {
      console.log(container.name + name, error.message.slice(0, 200));
      continue;
    }
    for (const [rule, run] of Object.entries(rules)) {
      all += 1;
      const began = performance.now();
      try {
        run();
      } catch (error) {
        if (error.name !== 'TooManyErrors') console.log(container.name + name, rule, error.message.slice(0, 200));
      }
      const took = performance.now() - began;
      if (took <= Number(values.over)) continue;
      over += 1;
      console.log(`${container.name}${name} ${rule}`.padEnd(110), took.toFixed(0).padStart(7));
    }
  }
}
console.log(`${over} of ${all} rules longer than ${values.over} ms`);
