// Measures how long the creation of an object with each list and map of each built-in kind, filled to the maximum body size,
// blocks the event loop: the longest turn in milliseconds of CPU time, the total time, the number of items and the status.
// Most of these objects are invalid, and validation visits every item. Prints those above --over milliseconds and their
// number.
//   npm run build && node test/bench/long-lists.mjs [--over 250] [--only REGEX]
import { parseArgs } from 'node:util';
import { startTestCluster } from 'kubenest/testing';
import { longestTurn } from '../security/longest-turn.ts';
import { bodyOf, containersOf } from './long-containers.mjs';

const { values } = parseArgs({ options: { over: { type: 'string', default: '250' }, only: { type: 'string', default: '.' } } });

await using cluster = await startTestCluster({ quiet: true });
const document = await (await cluster.fetch('/openapi/v2', { headers: { accept: 'application/json' } })).json();
let all = 0;
let over = 0;
for (const container of containersOf(document)) {
  if (!new RegExp(values.only).test(container.name)) continue;
  all += 1;
  const { count, body } = bodyOf(document.definitions, container);
  const began = performance.now();
  let status = 0;
  const turn = await longestTurn(async () => {
    const response = await cluster.fetch(container.path, { body });
    ({ status } = response);
    await response.text();
  });
  const took = performance.now() - began;
  if (status < 300) await (await cluster.fetch(`${container.path}/a`, { method: 'DELETE' })).text();
  if (turn <= Number(values.over)) continue;
  over += 1;
  console.log(container.name.padEnd(90), turn.toFixed(0).padStart(6), took.toFixed(0).padStart(7), String(count).padStart(7), status);
}
console.log(`${over} of ${all} longer than ${values.over} ms`);
