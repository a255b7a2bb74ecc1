// Measures how long bodies of the maximum size block the event loop: the CPU time of the thread in the longest turn, in
// milliseconds, and in total. In-process, so it includes the client's work.
//   node test/bench/large-bodies.mjs [name,name...]
import { startTestCluster } from 'kubenest/testing';
import { longestTurn } from '../security/longest-turn.ts';
import { ask, cases, prepare, present } from './worst-bodies.mjs';

const wanted = process.argv[2]?.split(',') ?? Object.keys(cases);
await using cluster = await startTestCluster({ quiet: true });
await prepare(cluster);
for (const name of wanted) {
  const [path, request, changed] = cases[name];
  if (changed) await present(cluster, changed);
  const began = process.threadCpuUsage();
  const longest = await longestTurn(() => ask(cluster, path, request));
  const { user, system } = process.threadCpuUsage(began);
  console.log(`${name.padEnd(36)} ${longest.toFixed(0).padStart(6)} ms, all ${((user + system) / 1_000).toFixed(0)} ms`);
}
